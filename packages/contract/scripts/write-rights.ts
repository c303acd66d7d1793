import { readFileSync, writeFileSync } from 'node:fs'
import {
  type ChannelSpec,
  contract,
  type EndpointSpec,
  liveChannels,
  permissions,
  scopeOfEndpoint,
  scopeOfPermission,
} from '../src/index.ts'

/** Writes the tables of docs/rights.md from the policy and the contract. `--check` only reports whether they are up to date. */
const file = new URL('../../../docs/rights.md', import.meta.url)
const begin = '<!-- begin: written by npm run rights -->\n'
const end = '<!-- end -->'

const endpoints = Object.entries<EndpointSpec>(contract)
const channels = Object.entries<ChannelSpec>(liveChannels)

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

const mark = (given: boolean) => (given ? 'yes' : '')
const rights = () =>
  Object.entries(permissions).map(([permission, least]) => [
    `\`${permission}\``,
    mark(least === 'user'),
    mark(least !== 'owner'),
    'yes',
  ])

const roles = new Map<string, string>(Object.entries(permissions))
const leastRole = ({ permission }: EndpointSpec) => roles.get(permission) ?? permission
const token = (row: EndpointSpec) => {
  if (['public', 'install-token', 'registry-hook', 'pipeline-hook'].includes(row.permission)) return ''
  const scope = scopeOfEndpoint(row) ?? 'never'
  return row.token === 'deployment-token' ? `${scope}, its own` : scope
}
const operations = () =>
  endpoints.map(([operation, row]) => [
    `\`${operation}\``,
    `${row.method} ${row.path}`,
    leastRole(row),
    token(row),
    mark(Boolean(row.audit)),
  ])

const messages = () =>
  channels.flatMap(([channel, spec]) => [
    [`\`${channel}\``, 'subscribe', permissions[spec.permission], scopeOfPermission(spec.permission), ''],
    ...Object.entries(spec.client).map(([type, message]) => [
      `\`${channel}\``,
      type,
      permissions[message.permission],
      scopeOfPermission(message.permission),
      mark(message.audit !== false),
    ]),
  ])

const tables = [
  '## Rights and roles',
  table(['Right', 'user', 'admin', 'owner'], rights()),
  '## Endpoints',
  table(['Operation', 'Address', 'Least role', 'Token scope', 'Recorded'], operations()),
  '## Live messages',
  table(['Channel', 'Message', 'Least role', 'Token scope', 'Recorded'], messages()),
].join('\n\n')

const before = readFileSync(file, 'utf8')
const [head, rest = ''] = before.split(begin)
const text = `${head}${begin}\n${tables}\n\n${end}${rest.split(end)[1] ?? ''}`
if (!process.argv.includes('--check')) {
  writeFileSync(file, text)
} else if (before !== text) {
  process.stderr.write('docs/rights.md is out of date: npm run rights\n')
  process.exit(1)
}
