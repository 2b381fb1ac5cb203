"""What is asked of the privacy kernel, on two neighbouring tables that the audit made itself."""
