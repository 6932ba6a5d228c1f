"""A picture of a job: ``bell-bench show JOB --picture curve.png``."""


def draw_curve(record, file, kinds):
    """Draw the accuracy on each problem; ``kinds`` says of which kind each problem is."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    axes.bar(range(1, len(record.problems) + 1), record.final)
    axes.set(xlabel="problem", ylabel="accuracy", title=record.job.algorithm)
    figure.savefig(file)
