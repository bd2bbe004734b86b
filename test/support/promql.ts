import { parser } from '@prometheus-io/lezer-promql';

export interface Matcher {
  readonly label: string;
  readonly op: string;
  readonly value: string;
}

/** What an expression asks of the series that there are. */
export interface Asked {
  readonly selectors: readonly { readonly metric: string; readonly matchers: readonly Matcher[] }[];
  /** Those of `by`, `on`, and their like. */
  readonly groupingLabels: readonly string[];
}

/** Reads an expression of Prometheus; throws where it is none. Variables of Grafana stand in it as their tool writes them. */
export function readPromql(expression: string): Asked {
  const text = expression.replaceAll('$__rate_interval', '5m');
  const selectors: { metric: string; matchers: Matcher[] }[] = [];
  const groupingLabels: string[] = [];
  let matcher = { label: '', op: '' };
  parser.parse(text).iterate({
    enter: ({ type, node, from, to }) => {
      const said = text.slice(from, to);
      if (type.isError) throw new Error(`not PromQL at ${from}: \`${expression}\``);
      const within = node.parent?.name;
      if (type.name === 'VectorSelector') selectors.push({ metric: '', matchers: [] });
      const selector = selectors.at(-1);
      if (type.name === 'Identifier' && selector) selector.metric = said;
      else if (type.name === 'LabelName' && within === 'GroupingLabels') groupingLabels.push(said);
      else if (type.name === 'LabelName') matcher = { label: said, op: '' };
      else if (type.name === 'MatchOp') matcher = { ...matcher, op: said };
      else if (type.name === 'StringLiteral' && within === 'UnquotedLabelMatcher') selector?.matchers.push({ ...matcher, value: said.slice(1, -1) });
    },
  });
  return { selectors, groupingLabels };
}
