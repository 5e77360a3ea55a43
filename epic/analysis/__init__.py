"""The paper's other analyses: texts word by word, costs, the collection in numbers."""
