# For bench/adaptive.py: its numbers as text and as a picture.

COLOURS = ["#000000", "#0072b2", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#e69f00"]
LEFT, TOP, WIDTH, HEIGHT, NAMES = 60, 34, 560, 220, 160


def of(row, name):
    """What lbmap reached in a step, or a peer."""
    return row if name == "lbmap" else row["peers"][name]


def names_of(steps):
    return ["lbmap"] + list(steps[0].get("peers", {}))


def cost(row, name):
    return of(row, name)["J"] / row["J_fresh"]


def moved(row, name):
    return 100 * of(row, name)["moved"] / row["weight"]


def draw_panel(out, y0, title, value, digits, steps, least, most):
    """A line for each name, over the steps."""
    x = lambda i: LEFT + WIDTH * (i + 0.5) / len(steps)
    y = lambda at: y0 + HEIGHT * (1 - (at - least) / (most - least))
    out.append(f'<text x="{LEFT}" y="{y0 - 8}" font-weight="bold">{title}</text>')
    out.append(f'<rect x="{LEFT}" y="{y0}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>')
    for k in range(6):
        at = least + (most - least) * k / 5
        out.append(f'<path d="M{LEFT} {y(at):.1f}h{WIDTH}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y(at) + 4:.1f}" text-anchor="end">{at:.{digits}f}</text>')
    for name, colour in zip(names_of(steps), COLOURS):
        points = " ".join(f"{x(i):.1f},{y(value(row, name)):.1f}" for i, row in enumerate(steps))
        wide = 2.5 if name == "lbmap" else 1.2
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="{wide}" points="{points}"/>')
    for i in range(len(steps)):
        out.append(f'<text x="{x(i):.1f}" y="{y0 + HEIGHT + 14}" text-anchor="middle">{i}</text>')


def draw(report, path):
    """J next to that of a fresh plan, and moved work, by step."""
    steps = report["steps"]
    all_of = lambda value: [value(row, name) for row in steps for name in names_of(steps)]
    size = f'width="{LEFT + WIDTH + NAMES}" height="{2 * (TOP + HEIGHT) + 40}"'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>']
    costs = all_of(cost)
    draw_panel(out, TOP, "J / J of a fresh plan", cost, 2, steps, min(costs) - 0.02, max(costs) + 0.02)
    most = max(all_of(moved)) * 1.05
    draw_panel(out, 2 * TOP + HEIGHT + 10, "moved, % of the work", moved, 0, steps, 0, most)
    for i, (name, colour) in enumerate(zip(names_of(steps), COLOURS)):
        x, y = LEFT + WIDTH + 16, TOP + 20 * i
        out.append(f'<rect x="{x}" y="{y}" width="14" height="4" fill="{colour}"/>')
        out.append(f'<text x="{x + 20}" y="{y + 6}">{name}</text>')
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n</svg>\n")


def print_step(row):
    back = "never" if row["back"] is None else f"{row['back']:.1f} s"
    print(f"step {row['step']}: {row['refined']} refined in {row['changing']:.1f} s, "
          f"uneven {100 * row['worst']:.0f} %, within 5 % after {back}, "
          f"at the end {100 * row['imbalance']:.1f} %; J {row['J']}, fresh {row['J_fresh']}, "
          f"{cost(row, 'lbmap'):.3f}; moved {moved(row, 'lbmap'):.1f} % where "
          f"{100 * row['flow'] / row['weight']:.1f} % must", flush=True)


def compare(report):
    """Who moved how much for which J, on the average, and at which steps somebody was better in both."""
    steps = report["steps"]
    mean = lambda value, name: sum(value(row, name) for row in steps) / len(steps)
    print(f"\n{'':16} {'moved':>8} {'J/fresh':>8} {'uneven':>8}   "
          "steps at which it has less of both than lbmap")
    worse = set()
    for name in names_of(steps):
        below = [row["step"] for row in steps if of(row, name)["moved"] < row["moved"] and
                 of(row, name)["J"] < row["J"] and of(row, name)["imbalance"] <= 0.05]
        worse |= set(below)
        uneven = 100 * max(of(row, name)["imbalance"] for row in steps)
        print(f"{name:16} {mean(moved, name):7.2f}% {mean(cost, name):8.3f} {uneven:7.1f}%   "
              f"{'' if name == 'lbmap' else below or '-'}")
    late = [row["step"] for row in steps if row["back"] is None or row["back"] > 5]
    of_flow = sum(row["moved"] for row in steps) / max(1, sum(row["flow"] for row in steps))
    print(f"{len(steps)} steps, {len(late)} not within 5 % in 5 s{f' {late}' if late else ''}; J at most "
          f"{max(cost(row, 'lbmap') for row in steps):.3f} of a fresh plan; "
          f"moved {of_flow:.2f} times the least flow; "
          f"nobody has less of both at {len(steps) - len(worse)} steps")
    report.update(late=late, worse=sorted(worse), moved_of_flow=of_flow)
