/**
 * Settings that are a boolean or a number, and that Docker Compose also takes as text, so that a variable can set them. `*` stands for any key or
 * index. They are listed, because the schema allows text and numbers also where text must stay what it is, such as `environment`.
 */
const booleans = [
  '{networks,volumes,secrets,configs}.*.external',
  'networks.*.{internal,attachable,enable_ipv4,enable_ipv6}',
  'services.*.{attach,init,oom_kill_disable,privileged,read_only,stdin_open,tty}',
  'services.*.depends_on.*.{required,restart}',
  'services.*.env_file.*.required',
  'services.*.healthcheck.disable',
  'services.*.volumes.*.read_only',
  'services.*.volumes.*.bind.create_host_path',
  'services.*.volumes.*.volume.nocopy',
]

const numbers = [
  'services.*.{cpu_count,cpu_percent,cpu_period,cpu_quota,cpu_shares,cpus,oom_score_adj,pids_limit,scale}',
  'services.*.ulimits.*',
  'services.*.ulimits.*.{hard,soft}',
  'services.*.healthcheck.retries',
  'services.*.ports.*.target',
  'services.*.deploy.replicas',
  'services.*.deploy.{update_config,rollback_config}.{parallelism,max_failure_ratio}',
  'services.*.deploy.restart_policy.max_attempts',
  'services.*.deploy.placement.max_replicas_per_node',
  'services.*.deploy.resources.{limits,reservations}.pids',
]

export type Cast = 'boolean' | 'number'

/** A step of a path and what may follow it. */
export type CastRules = { cast?: Cast; children: Map<string, CastRules> }

export const castRules: CastRules = { children: new Map() }
for (const [cast, patterns] of [
  ['boolean', booleans],
  ['number', numbers],
] as const)
  for (const pattern of patterns) addRule(castRules, pattern.split('.'), cast)

function addRule(rules: CastRules, [first, ...rest]: string[], cast: Cast): void {
  if (first === undefined) {
    rules.cast = cast
    return
  }
  for (const key of first.replace(/[{}]/g, '').split(',')) {
    const next = rules.children.get(key) ?? { children: new Map() }
    rules.children.set(key, next)
    addRule(next, rest, cast)
  }
}

export const getChildRules = (rules: CastRules | undefined, key: string | number): CastRules | undefined =>
  rules?.children.get(String(key)) ?? rules?.children.get('*')

/** The value as its setting wants it, or undefined if the text says no such value. */
export function castText(text: string, cast: Cast): boolean | number | undefined {
  if (cast === 'number') return /^[-+]?(\d+(\.\d*)?|\.\d+)$/.test(text.trim()) ? Number(text) : undefined
  const lower = text.toLowerCase()
  if (['true', 'yes', 'y', 'on'].includes(lower)) return true
  return ['false', 'no', 'n', 'off'].includes(lower) ? false : undefined
}
