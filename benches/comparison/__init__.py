"""Two programs in turn, round by round, and the page that shows what was measured."""
