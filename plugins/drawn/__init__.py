"""Images that are drawn, not downloaded: domains and data sources like any plugin's."""
