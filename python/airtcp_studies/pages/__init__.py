"""The studies' pages, made with airtcp's report."""
