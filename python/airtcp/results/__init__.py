"""The results of questions: data frames, files, and the way to the modules that show them."""

from airtcp.results.document import Results, results, results_schema, schema_of, to_json

__all__ = ["Results", "results", "results_schema", "schema_of", "to_json"]
