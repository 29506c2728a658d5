"""What is fitted on top of a frozen encoder, and the baselines that tuned encoders are measured against."""
