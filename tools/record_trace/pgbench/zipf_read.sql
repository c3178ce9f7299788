-- Read one account. A few accounts are wanted most; permute() spreads them over the
-- table, and :hot_set decides which they are.
\set naccounts 100000 * :scale
\set rank random_zipfian(1, :naccounts, 1.1)
\set aid 1 + permute(:rank - 1, :naccounts, :hot_set)
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
