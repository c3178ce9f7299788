"""What is done with a scenario: runs, single requests, mixes of tiers, plans, power losses."""
