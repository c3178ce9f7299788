-- Read the whole table from end to end, as a report or a backup does.
SELECT count(*), sum(abalance) FROM pgbench_accounts;
