"""The measurement: joins and leaves on the real broker and job, and where their time goes."""
