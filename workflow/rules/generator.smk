"""generator: a sequence-to-sequence model that writes queries for passages; checked, and made once for all first stages.

out  results/{experiment}/generator/{generator}/
"""


localrules:
    generator,


rule generator:
    output:
        folder=directory("results/{experiment}/generator/{generator}"),
    log:
        "results/{experiment}/logs/generator/{generator}.log",
    wildcard_constraints:
        generator="[^/]+",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=of_settings(generating.converting_memory, "generator"),
    params:
        generator=of_settings(generation.generator_named, "generator"),
        code=code("generator"),
    script:
        "../scripts/generator.py"
