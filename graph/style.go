package graph

// style colours the picture. The dark scheme changes colours only.
const style = `.leveret text { font-family: Verdana, "DejaVu Sans", Helvetica, Arial, sans-serif; fill: #1f2933 }
.leveret .name, .leveret .title { font-size: 13px; font-weight: bold }
.leveret .detail, .leveret .label { font-size: 11px }
.leveret text.detail, .leveret text.label { fill: #46535f }
.leveret .paper, .leveret .gap { fill: #ffffff }
.leveret .box { fill: #fef3c7; stroke: #b45309; stroke-width: 1.4 }
.leveret .exchange .box, .leveret .publisher .box { fill: #dbeafe; stroke: #2563eb }
.leveret .missing .box { fill: #ffffff; stroke: #b91c1c; stroke-dasharray: 3 3 }
.leveret .lost .box { fill: #fee2e2; stroke: #b91c1c }
.leveret .line { fill: none; stroke: #64748b; stroke-width: 1.4 }
.leveret .head { fill: #64748b }
.leveret .dead .line, .leveret .loss .line { stroke: #dc2626; stroke-dasharray: 6 3 }
.leveret .dead .head, .leveret .loss .head { fill: #dc2626 }
.leveret .dead text.label, .leveret .loss text.label { fill: #b91c1c }
.leveret .alternate .line { stroke: #7c3aed; stroke-dasharray: 2 3 }
.leveret .alternate .head { fill: #7c3aed }
.leveret .alternate text.label { fill: #6d28d9 }
.leveret .back .line { stroke-width: 2.6; stroke-dasharray: none }
@media (prefers-color-scheme: dark) {
.leveret text { fill: #e6edf3 }
.leveret text.detail, .leveret text.label { fill: #aab4bf }
.leveret .paper, .leveret .gap, .leveret .missing .box { fill: #0d1117 }
.leveret .box { fill: #33270c; stroke: #e3a93b }
.leveret .exchange .box, .leveret .publisher .box { fill: #10294d; stroke: #60a5fa }
.leveret .missing .box, .leveret .lost .box { stroke: #f87171 }
.leveret .lost .box { fill: #4a1416 }
.leveret .line { stroke: #8b98a8 }
.leveret .head { fill: #8b98a8 }
.leveret .dead .line, .leveret .loss .line { stroke: #f87171 }
.leveret .dead .head, .leveret .loss .head { fill: #f87171 }
.leveret .dead text.label, .leveret .loss text.label { fill: #fca5a5 }
.leveret .alternate .line { stroke: #a78bfa }
.leveret .alternate .head { fill: #a78bfa }
.leveret .alternate text.label { fill: #c4b5fd }
}
`
