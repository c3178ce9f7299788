-- Change one account, chosen as in zipf_read.sql.
\set naccounts 100000 * :scale
\set rank random_zipfian(1, :naccounts, 1.1)
\set aid 1 + permute(:rank - 1, :naccounts, :hot_set)
\set delta random(-5000, 5000)
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
