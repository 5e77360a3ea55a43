"""Output for people: tables, figures, pages."""
