"""What is measured of runs to compare with a paper: common measures, and one module per paper."""
