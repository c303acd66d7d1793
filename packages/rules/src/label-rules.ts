import { type ContainerConfigFields, type ErrorDetail, type FinalContainerConfig, limits } from '@crux/contract'

export const labelRuleTypes = ['string', 'boolean', 'int'] as const
/** The rule of an image for one environment variable or secret, from a label. */
export type LabelRule = {
  key: string
  label: string
  type: (typeof labelRuleTypes)[number]
  required: boolean
  secret: boolean
  default?: string
}
export type LabelProblem = { label: string; description: string }

/** The first prefix is that of Crux and wins over the second one, which images of the reference system have. */
const labelPrefixes = ['dev.crux.env.', 'org.dyrectorio.env.'] as const

/**
 * Parses `org.dyrectorio.env.NAME` and `dev.crux.env.NAME`, whose value is a comma list of a type (string, boolean or int), `required`, `secret` and
 * `default:VALUE`. Labels come from the author of the image, so parts that cannot be parsed are reported as problems and the rest applies.
 */
export function labelRules(labels: Readonly<Record<string, string>>): { rules: LabelRule[]; problems: LabelProblem[] } {
  const rules = new Map<string, LabelRule>()
  const problems: LabelProblem[] = []
  for (const prefix of labelPrefixes) {
    for (const [label, value] of Object.entries(labels)) {
      if (!label.startsWith(prefix)) continue
      const read = readRule(label, label.slice(prefix.length), value)
      if (typeof read === 'string') problems.push({ label, description: read })
      else if (!rules.has(read.key)) rules.set(read.key, read)
    }
  }
  const all = [...rules.values()]
  for (const { label } of all.slice(limits.listEntries))
    problems.push({ label, description: `Only the first ${limits.listEntries} rules of an image apply` })
  return { rules: all.slice(0, limits.listEntries), problems }
}

/**
 * Adds the rules of the labels to the layer of an image, when the image is added and when its tag changes. Existing values win. A variable that is
 * required or has a default is added with the default or empty, a secret as a key.
 *
 * @returns the same object when nothing is added; new rows have no ids (`fillRowIds` sets them)
 */
export function applyLabelRules(fields: ContainerConfigFields, rules: readonly LabelRule[]): ContainerConfigFields {
  const environment = fields.environment ?? []
  const secrets = fields.secrets ?? []
  const taken = new Set([...environment, ...secrets].map((row) => row.key))
  const missing = rules.filter((rule) => !taken.has(rule.key))
  const newSecrets = missing.filter((rule) => rule.secret).slice(0, limits.listEntries - secrets.length)
  const newVariables = missing
    .filter((rule) => !rule.secret && (rule.required || rule.default !== undefined))
    .slice(0, limits.listEntries - environment.length)
  if (newSecrets.length + newVariables.length === 0) return fields
  return {
    ...fields,
    ...(newVariables.length > 0 && {
      environment: [...environment, ...newVariables.map((rule) => ({ key: rule.key, value: rule.default ?? '' }))],
    }),
    ...(newSecrets.length > 0 && {
      secrets: [...secrets, ...newSecrets.map(({ key, required }) => ({ key, required }))],
    }),
  }
}

/**
 * The rules of the image that a merged configuration violates, checked at the start: a required value that is missing or empty, a value of the wrong
 * type. `missingSecrets` checks that secrets have values; their types cannot be checked, because only the node decrypts them.
 */
export function labelRuleProblems(config: FinalContainerConfig, rules: readonly LabelRule[]): ErrorDetail[] {
  const problem = (property: string, description: string): ErrorDetail => ({
    property,
    error: 'instanceLabelRules',
    description,
  })
  const secrets = new Set(config.secrets.map((row) => row.key))
  return rules.flatMap((rule) => {
    const { key, label } = rule
    if (rule.secret)
      return rule.required && !secrets.has(key)
        ? [problem(`secrets.${key}`, `The image requires the secret ${key} (label ${label}): add it`)]
        : []
    const index = config.environment.findIndex((row) => row.key === key)
    const value = config.environment[index]?.value ?? ''
    const property = index < 0 ? `environment.${key}` : `environment[${index}].value`
    if (value === '')
      return rule.required ? [problem(property, `The image requires a value for ${key} (label ${label})`)] : []
    return isOfType(value, rule.type)
      ? []
      : [problem(property, `The image wants ${typeWords[rule.type]} for ${key} (label ${label})`)]
  })
}

const typeWords = { string: 'a text', boolean: 'true or false', int: 'a whole number' } as const

function readRule(label: string, key: string, value: string): LabelRule | string {
  if (!/^[^\s=\0]{1,1024}$/.test(key)) return `"${key}" is no name of a variable`
  const rule: Omit<LabelRule, 'type'> & { type?: LabelRule['type'] } = { key, label, required: false, secret: false }
  for (const word of value.split(',').map((part) => part.trim())) {
    const type = labelRuleTypes.find((known) => known === word)
    if (type && rule.type && rule.type !== type) return `It is ${rule.type} and ${type} at once: leave one out`
    if (type) rule.type = type
    else if (word === 'required' || word === 'secret') rule[word] = true
    else if (word.startsWith('default:')) rule.default = word.slice('default:'.length)
    else return `"${word}" is no word of a rule: use string, boolean, int, required, secret and default:VALUE`
  }
  const { type } = rule
  if (!type) return 'The type is missing: begin with string, boolean or int'
  if (rule.default && (rule.default.length > limits.value.max || rule.default.includes('\0')))
    return 'The default is too long or has a NUL character'
  if (rule.default && !isOfType(rule.default, type)) return `The default "${rule.default}" is not ${typeWords[type]}`
  return { ...rule, type }
}

const isOfType = (value: string, type: LabelRule['type']): boolean =>
  type === 'string' || (type === 'int' ? /^[-+]?\d+$/ : /^(true|false|1|0)$/i).test(value.trim())
