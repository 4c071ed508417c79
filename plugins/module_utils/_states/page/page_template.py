# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's template and style. They are Python since a module is sent to a target without files that
are none. No script, and nothing from elsewhere: the page's own policy forbids both."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#57606a;--line:#d0d7de;--box:#f6f8fa;
--r:#1a7f37;--f:#cf222e;--b:#bc4c00;--w:#9a6700;--u:#57606a;--v:#8250df;--l:#0969da;--cell:#7fc894}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#3d444d;
--box:#161b22;--r:#57ab5a;--f:#ff7b72;--b:#f0883e;--w:#d29922;--u:#9198a1;--v:#bc8cff;--l:#58a6ff;
--cell:#2b7a3d}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,"DejaVu Sans",sans-serif}
main,header{max-width:1200px;margin:0 auto;padding:0 20px}
h1{font-size:24px;margin:20px 0 0}
h2{font-size:20px;margin:36px 0 8px;padding-top:12px;border-top:2px solid var(--line)}
h3{font-size:16px;margin:26px 0 8px}
h1,h2,p,li,dd{overflow-wrap:anywhere}
td,th{overflow-wrap:break-word;max-width:640px}
p{margin:6px 0}
a{color:var(--l)}
:focus-visible{outline:3px solid var(--l);outline-offset:2px}
.skip{position:absolute;left:-999px}
.skip:focus{left:8px;top:8px;background:var(--bg);padding:8px}
.dim{color:var(--dim)}
.p{display:inline-block;white-space:nowrap;font-weight:600;padding:0 8px;border-radius:10px;
border:1px solid currentColor}
.r{color:var(--r)}.f{color:var(--f)}.b{color:var(--b)}.w{color:var(--w)}.u{color:var(--u)}
.v{color:var(--v)}.l{color:var(--l)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;vertical-align:top;padding:5px 14px 5px 0;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--dim);white-space:nowrap}
td.n,th.n,.no-wrap{white-space:nowrap}
tbody th{color:inherit;white-space:normal}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 18px;margin:8px 0}
dt{color:var(--dim)}dd{margin:0}
code{font:13px ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
.cause{border-left:4px solid var(--f);background:var(--box);padding:8px 14px;margin:10px 0}
.cause.w{border-color:var(--w)}.cause.u{border-color:var(--u)}.cause.b{border-color:var(--b)}
.cause.v{border-color:var(--v)}.cause.l{border-color:var(--l)}
.cause>*{color:var(--fg)}
.cause p{margin:2px 0}
svg{display:block}
svg text{fill:var(--fg);font-size:13px}
svg .name{font-weight:600}
svg .long{font-size:11px}
svg rect{fill:var(--box);stroke:currentColor;stroke-width:1.5}
svg path{fill:none;stroke:var(--dim);stroke-width:1.2}
.map{display:flex;flex-wrap:wrap;gap:2px;margin:4px 0 14px;--s:22px}
.map.m{--s:14px}.map.s{--s:9px}
.map>*{width:var(--s);height:var(--s);border-radius:2px;background:var(--cell)}
.map>a{color:var(--f);background:currentColor}
.map>a.b,.key.b{background:linear-gradient(currentColor 40%,transparent 40% 60%,currentColor 60%)}
.map>a.w,.key.w{background:linear-gradient(135deg,currentColor 50%,transparent 50%);
border:1px solid}
.map>a.u,.key.u{background:transparent;border:2px solid}
.map>a.v,.key.v{background:transparent;border:2px dashed}
.map>a.l,.key.l{background:linear-gradient(transparent 50%,currentColor 50%);border:1px solid}
.map>a.b{color:var(--b)}.map>a.w{color:var(--w)}.map>a.u{color:var(--u)}.map>a.v{color:var(--v)}
.map>a.l{color:var(--l)}
.key{display:inline-block;width:12px;height:12px;border-radius:2px;vertical-align:-1px;
background:currentColor}
.key.r{background:var(--cell)}
.keys{display:flex;flex-wrap:wrap;gap:4px 18px;margin:6px 0;padding:0;list-style:none}
summary{cursor:pointer;font-weight:600;margin:26px 0 6px;font-size:16px}
footer{max-width:1200px;margin:40px auto 20px;padding:0 20px;color:var(--dim);font-size:13px}
@media(max-width:640px){main,header,footer{padding:0 12px}h2{font-size:18px}
dl{grid-template-columns:1fr}dt{margin-top:6px}
thead{position:absolute;left:-9999px}
table,tbody,tr{display:block}tr{padding:8px 0;border-bottom:1px solid var(--line)}
tbody td,tbody th{display:inline-block;border:0;padding:0 10px 0 0;max-width:100%}
tbody td:last-child{display:block}}
@media print{.skip{display:none}details>*{display:block}}
"""

PAGE = """
{% macro phase(name) %}
<span class="p {{ name | sign }}">{{ name | glyph }} {{ name }}</span>
{%- endmacro %}
{% macro since(moment) %}
{% if moment %}<time datetime="{{ moment }}" title="{{ moment }}">{{ moment | lasting }}</time>
{%- endif %}
{%- endmacro %}
{% macro more(all, shown) %}
{% if all | length > shown %}
<p class="dim">and {{ all | length - shown }} more, which the data beside this page has</p>
{% endif %}
{% endmacro %}
{% macro graph(resource, id) %}
{% set layout = resource.states | lay_out %}
<div class="scroll" tabindex="0" role="group" aria-label="Graph of states">
<svg width="{{ layout.width }}" height="{{ layout.height }}" role="img"
 viewBox="0 0 {{ layout.width }} {{ layout.height }}"
 aria-label="Each state stands on those to its left; the table of states says the same">
{% for edge in layout.edges %}
<path d="{{ edge }}"/>
{% endfor %}
{% for state in resource.states %}
{% set x, y = layout.boxes[state.name] %}
<g class="{{ state.phase | sign }}" transform="translate({{ x }} {{ y }})">
<title>{{ state.name }}: {{ state.phase }}, {{ state.ready }} of {{ state.total }}</title>
<rect width="{{ box_width }}" height="{{ box_height }}" rx="6"/>
<text class="name{{ " long" if state.name | length > 18 }}" x="8" y="19">{{ state.name | short }}</text>
<text x="8" y="37">{{ state.phase | glyph }} {{ state.phase }} {{ state.ready }}/{{ state.total }}</text>
</g>
{% endfor %}
</svg>
</div>
{% endmacro %}
{% macro causes(resource) %}
{% for cause in resource.causes[:shown_causes] %}
<article class="cause {{ cause.phase | sign }}">
<p><strong>{{ cause | place }}</strong>: {{ cause.state }} {{ phase(cause.phase) }}
{% if cause.since is lasting %}for {{ since(cause.since) }}{% endif %}</p>
<p>{{ cause.message }}</p>
{% if cause.before %}
<p class="dim">The last run saw {{ cause.before.phase }}: {{ cause.before.message }}</p>
{% endif %}
<p><strong>To do:</strong> {{ cause.todo }}</p>
{% if cause.blocked %}
<p class="dim">Behind it: {% for each in cause.blocked %}{{ each.state }}
{%- if each.nodes > 1 %} on {{ each.nodes }} nodes{% endif %}{{ ", " if not loop.last }}
{%- endfor %}</p>
{% endif %}
</article>
{% endfor %}
{{ more(resource.causes, shown_causes) }}
{% endmacro %}
{% macro heat_map(resource, id) %}
{% set rows = resource.problems | row_of_node(shown_nodes) %}
<ul class="keys" aria-label="Nodes by phase">
{% for name, count in resource.nodes | counted %}
<li><span class="key {{ name | sign }}"></span> {{ name }} {{ count }}</li>
{% endfor %}
</ul>
{% for group in resource.nodes | grouped %}
<p id="{{ id }}g{{ loop.index0 }}">{{ group.title or "nodes" }}:
 {{ group.ready }} of {{ group.nodes | length }} ready</p>
<div class="map {{ resource.nodes | length | size }}" role="group" aria-labelledby="{{ id }}g{{ loop.index0 }}">
{% for name, node in group.nodes %}
{% if node.phase == "ready" %}
<i title="{{ name }}"></i>
{%- else %}
<a class="{{ node.phase | sign }}" href="#{{ id }}{{ rows[name] if name in rows else 'nodes' }}"
 title="{{ name }}: {{ node | said }}"></a>
{%- endif %}
{% endfor %}
</div>
{% endfor %}
{% endmacro %}
{% macro failing(resource, id) %}
<h3 id="{{ id }}nodes">Nodes that are not ready, the worst and longest first</h3>
<div class="scroll" tabindex="0" role="group" aria-label="Nodes that are not ready"><table>
<thead><tr><th>Node</th><th>State</th><th>Phase</th><th class="n">For</th><th>Why</th></tr></thead>
<tbody>
{% for row in resource.problems[:shown_nodes] %}
<tr id="{{ id }}n{{ loop.index0 }}"><th scope="row">{{ row.node or "the cluster" }}</th>
<td>{{ row.state }}</td><td>{{ phase(row.phase) }}</td>
<td class="n">{% if row.since is lasting %}{{ since(row.since) }}{% endif %}</td>
<td>{{ row.message }}</td></tr>
{% endfor %}
</tbody></table></div>
{{ more(resource.problems, shown_nodes) }}
{% endmacro %}
{% macro latest(resource) %}
{% set nodes = resource.nodes | ready_last %}
{% if nodes %}
<h3>Nodes that became ready last</h3>
<p>{% for name, moment in nodes %}{{ name }} ({{ since(moment) }} ago){{ ", " if not loop.last }}
{%- endfor %}</p>
{% endif %}
{% endmacro %}
{% macro upgrades(resource) %}
{% if resource.upgrades %}
<h3>Nodes whose driver is exchanged, or that are in quarantine</h3>
<div class="scroll" tabindex="0" role="group" aria-label="Exchanges"><table>
<thead><tr><th>Node</th><th>Phase</th><th class="n">For</th><th>Why</th></tr></thead><tbody>
{% for row in resource.upgrades[:shown_nodes] %}
<tr><th scope="row">{{ row.node }}</th><td>{{ row.phase }}</td><td class="n">{{ since(row.since) }}</td>
<td>{{ row.message }}</td></tr>
{% endfor %}
</tbody></table></div>
{{ more(resource.upgrades, shown_nodes) }}
{% endif %}
{% if resource.restarts_pending %}
<p>{{ resource.restarts_pending | length }} nodes run the driver version before, until the playbook upgrade:
 {{ resource.restarts_pending[:10] | join(", ") }}{{ ", ..." if resource.restarts_pending | length > 10 }}</p>
{% endif %}
{% endmacro %}
{% macro drift(resource) %}
{% if resource.drift %}
<h3>What others have changed</h3>
<div class="scroll" tabindex="0" role="group" aria-label="Drift"><table><thead><tr><th>Object</th><th>Drift</th>
<th>By</th><th class="n">For</th><th>Fields</th></tr></thead><tbody>
{% for row in resource.drift[:shown_nodes] %}
<tr><th scope="row">{{ row.object }}</th><td>{{ row.drift }}</td><td>{{ row.by or "-" }}</td>
<td class="n">{{ since(row.since) }}</td><td>{{ row.fields | join(", ") }}</td></tr>
{% endfor %}
</tbody></table></div>
{{ more(resource.drift, shown_nodes) }}
{% for todo in resource.drift | map(attribute="todo") | unique %}
<p><strong>To do:</strong> {{ todo }}</p>
{% endfor %}
{% endif %}
{% if resource.put_back %}
<p>{{ since(resource.put_back.seen) }} ago a run has put back {{ resource.put_back.count }} objects that others had
 changed: {% for row in resource.put_back.objects %}{{ row.object }}{% if row.by %} ({{ row.by }}){% endif %}
{{- ", " if not loop.last }}{% endfor %}</p>
{% endif %}
{% endmacro %}
{% macro outdated(resource) %}
{% if resource.outdated %}
{% set said = resource.outdated | older %}
<p>{{ said[0] | upper }}{{ said[1:] }}. <strong>To do:</strong> {{ older_todo }}</p>
{% endif %}
{% endmacro %}
{% macro states(resource) %}
<details><summary>States as a table</summary>
<div class="scroll" tabindex="0" role="group" aria-label="States"><table>
<thead><tr><th>State</th><th>Phase</th><th class="n">Nodes</th><th>Stands on</th><th>Groups of nodes</th>
</tr></thead><tbody>
{% for state in resource.states %}
<tr><th scope="row">{{ state.name }}</th><td>{{ phase(state.phase) }} {{ state.reason }}</td>
<td class="n">{{ state.ready }}/{{ state.total }}</td><td>{{ state.requires | join(", ") or "-" }}</td>
<td>{% for group in state.groups or [] %}{{ group.title }} {{ group.ready }}/{{ group.total }}
{{- ", " if not loop.last }}{% endfor %}</td></tr>
{% endfor %}
</tbody></table></div></details>
{% endmacro %}
{% macro settings(resource) %}
<details><summary>Versions, images, options</summary>
<dl>
{% for name, version in resource.versions | dictsort %}
<dt>{{ name }}</dt><dd>{{ version }}</dd>
{% endfor %}
{% for image in resource.images %}
<dt>image of {{ image.state }}</dt><dd><code>{{ image.image }}</code></dd>
{% endfor %}
{% for name, value in resource.options | dictsort %}
<dt>option {{ name }}</dt><dd><code>{{ value | as_json }}</code></dd>
{% endfor %}
{% for name in resource.secret_options %}
<dt>option {{ name }}</dt><dd>secret, not shown</dd>
{% endfor %}
{% for pool in resource.pools %}
<dt>pool {{ pool.name }}</dt><dd><code>{{ pool | as_json }}</code></dd>
{% endfor %}
{% if not (resource.options or resource.secret_options) %}
<dt>options</dt><dd>all as the recipe has them</dd>
{% endif %}
</dl></details>
{% endmacro %}
{% macro exchange(found) %}
<h3>Waves of the upgrade</h3>
{% if found.stopped %}<p class="f">No further node was begun: {{ found.stopped }}</p>{% endif %}
{% if found.rollback %}<p>Rollback: {{ found.rollback }}</p>{% endif %}
<div class="scroll" tabindex="0" role="group" aria-label="Waves"><table>
<thead><tr><th class="n">Wave</th><th>Node</th><th>Result</th><th>Why</th></tr></thead><tbody>
{% for row in found.plan[:shown_nodes] %}
<tr><td class="n">{{ row.wave or "-" }}</td><th scope="row">{{ row.node }}</th>
<td>{% if row.node in found.done %}<span class="r">exchanged and proven</span>
{%- elif row.node in found.quarantined %}<span class="f">in quarantine</span>
{%- elif row.node in found.postponed %}<span class="w">left as it was</span>
{%- else %}not begun{% endif %}</td>
<td>{{ found.quarantined[row.node] or found.postponed[row.node] or row.blocked or row.held_by or row.why }}</td></tr>
{% endfor %}
</tbody></table></div>
{{ more(found.plan, shown_nodes) }}
{% endmacro %}
{% macro checks(found) %}
<h3>Placement of pods by NUMA node</h3>
<p>{{ found.summary.errors }} errors and {{ found.summary.warnings }} warnings on {{ found.summary.nodes }} nodes,
 {{ found.summary.checks }} checks{% if found.summary.not_run %}, of which
 {{ found.summary.not_run | length }} could not be run{% endif %}</p>
{% if found.findings %}
<div class="scroll" tabindex="0" role="group" aria-label="Findings"><table><thead><tr><th>Severity</th><th>Check</th>
<th>Where</th><th>Is</th><th>Should be</th><th>To do</th></tr></thead><tbody>
{% for each in found.findings[:shown_nodes] %}
<tr><td class="{{ each.severity | sign }}">{{ each.severity }}</td><th scope="row">{{ each.id }}</th>
<td>{{ each.object or each.node or each.pool }}</td><td>{{ each.detected }}</td><td>{{ each.expected }}</td>
<td>{{ each.remediation }}</td></tr>
{% endfor %}
</tbody></table></div>
{{ more(found.findings, shown_nodes) }}
{% endif %}
{% endmacro %}
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';style-src 'unsafe-inline'">
<title>{{ title }}</title>
<style>STYLE</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<h1>{{ title }}</h1>
<p class="dim">This is what was seen at <time datetime="{{ data.made }}">{{ data.made | moment }}</time>; ages and
 durations are counted up to then.</p>
</header>
<main id="main">
{% if data.clusters | length > 1 or data.clusters | map(attribute="resources") | map("length") | sum != 1 %}
<div class="scroll" tabindex="0" role="group" aria-label="Overview"><table>
<thead><tr><th>Cluster</th><th>Resource</th><th>Phase</th><th class="n">Nodes</th><th class="n">For</th>
<th class="n">Last run</th><th>Message</th></tr></thead><tbody>
{% for cluster in data.clusters %}
{% set c = loop.index0 %}
{% for resource in cluster.resources %}
<tr><td>{{ cluster.name }}</td><th scope="row"><a href="#c{{ c }}r{{ loop.index0 }}">{{ resource.name }}</a></th>
<td>{{ phase(resource.phase) }}</td><td class="n">{{ resource.nodes_ready }}/{{ resource.nodes_total }}</td>
<td class="n">{{ since(resource.since) }}</td>
<td class="n">{{ since(resource.last_run) }}{{ " ago" if resource.last_run }}</td>
<td>{{ "" if resource.phase == "ready" else resource.message | truncate(160) }}</td></tr>
{% endfor %}
{% if cluster.error or not cluster.resources %}
<tr><td>{{ cluster.name }}</td><th scope="row">-</th>
<td>{{ phase("error" if cluster.error else "empty") }}</td><td class="n">-</td><td></td><td></td>
<td>{{ cluster.error or ("" if cluster.checks else "nothing is enabled") }}</td></tr>
{% endif %}
{% endfor %}
</tbody></table></div>
{% elif data.clusters[0].error %}
<p class="f">{{ data.clusters[0].error }}</p>
{% endif %}
{% for cluster in data.clusters %}
{% set c = loop.index0 %}
{% if cluster.checks or cluster.exchange %}
<section>
<h2>{{ cluster.name }}</h2>
{% if cluster.checks %}{{ checks(cluster.checks) }}{% endif %}
{% if cluster.exchange.plan %}{{ exchange(cluster.exchange) }}{% endif %}
</section>
{% endif %}
{% for resource in cluster.resources %}
{% set id = "c%dr%d" | format(c, loop.index0) %}
<section aria-labelledby="{{ id }}">
<h2 id="{{ id }}">{{ resource.name }} {{ phase(resource.phase) }}
{% if data.clusters | length > 1 %}<span class="dim">on {{ cluster.name }}</span>{% endif %}</h2>
<p>{% if resource.causes or resource.drift %}{{ resource.nodes_ready }} of {{ resource.nodes_total }} nodes are ready
{%- else %}{{ resource.message }}{% endif %}</p>
<p class="dim">{{ cluster.host }}{% if resource.namespace %}, namespace {{ resource.namespace }}{% endif %}
{% if resource.kernels %}, kernels {{ resource.kernels | join(", ") }}{% endif %}
{% if resource.last_run %}, last run {{ since(resource.last_run) }} ago{% endif %}</p>
{% for each in resource.rivals %}
<p class="f">{{ each }} serves the same resource: two device plugins take the devices from each other.</p>
{% endfor %}
{{ causes(resource) }}
{{ drift(resource) }}
{{ upgrades(resource) }}
{{ outdated(resource) }}
{% if resource.states %}
<h3>States</h3>
{{ graph(resource, id) }}
{% endif %}
{% if resource.nodes %}
<h3>Nodes</h3>
{{ heat_map(resource, id) }}
{% endif %}
{% if resource.problems %}{{ failing(resource, id) }}{% endif %}
{{ latest(resource) }}
{{ states(resource) }}
{{ settings(resource) }}
</section>
{% endfor %}
{% endfor %}
</main>
<footer>Made by the collection hardware.enablement. The same as data is in the file of this name that ends with
 .json, form {{ data.version }}.</footer>
</body>
</html>
"""
