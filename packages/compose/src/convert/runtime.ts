import { type ContainerConfigFields, ExtraHost, ulimitNames } from '@crux/contract'
import { capabilityName, parseExtraHost } from '@crux/rules'
import type { ComposeValue } from '../model.ts'
import { type PlacedRow, type ServiceContext, setRows } from './service-context.ts'
import { formatQuantity, parseByteSize } from './units.ts'
import { isComposeRecord, toComposeRecord, toList, toNumber, toText, toTexts } from './values.ts'

/** Converts restarts, replicas, capabilities, limits of processes, shared memory and extra hosts. */
export function convertRuntime(context: ServiceContext): void {
  convertRestart(context)
  convertReplicas(context)
  convertCapabilities(context)
  convertUlimits(context)
  convertExtraHosts(context)
  const size = toText(context.get('shm_size'))
  if (!size) return
  const bytes = parseByteSize(size)
  if (bytes === undefined) context.error(['shm_size'], `"${size}" is not a size: write it like 64m or 1g`)
  else context.set('shmSize', formatQuantity(bytes), ['shm_size'])
}

type Policy = NonNullable<ContainerConfigFields['restartPolicy']>
const restartPolicies: ReadonlyMap<string, Policy> = new Map([
  ['no', 'no'],
  ['false', 'no'],
  ['always', 'always'],
  ['on-failure', 'onFailure'],
  ['unless-stopped', 'unlessStopped'],
])
const conditions: ReadonlyMap<string, Policy> = new Map([
  ['none', 'no'],
  ['on-failure', 'onFailure'],
  ['any', 'always'],
])

/** The policy of `deploy` applies where both are there, as in Compose. */
function convertRestart(context: ServiceContext): void {
  const given = toText(context.get('restart'))
  if (given) {
    const [name = '', attempts] = given.split(':', 2)
    const policy = restartPolicies.get(name)
    if (policy) context.set('restartPolicy', policy, ['restart'])
    else context.error(['restart'], `"${given}" is not a policy: use no, always, on-failure or unless-stopped`)
    if (policy && attempts)
      context.omit(['restart'], `The limit of ${attempts} restarts: the engine restarts a container without a limit`)
  }
  const deploy = toComposeRecord(context.get('deploy'))
  const condition = toText(toComposeRecord(deploy.restart_policy).condition)
  if (!condition) return
  const path = ['deploy', 'restart_policy', 'condition']
  const policy = conditions.get(condition)
  if (!policy) {
    context.error(path, `"${condition}" is not a condition: use none, on-failure or any`)
    return
  }
  if (context.config.restartPolicy && context.config.restartPolicy !== policy)
    context.omit(['restart'], 'deploy.restart_policy applies instead')
  context.set('restartPolicy', policy, path)
}

function convertReplicas(context: ServiceContext): void {
  const deploy = toComposeRecord(context.get('deploy'))
  const path = deploy.replicas === undefined ? ['scale'] : ['deploy', 'replicas']
  const value: ComposeValue | undefined = deploy.replicas ?? context.get('scale')
  if (value === undefined || value === null) return
  const replicas = toNumber(value)
  if (replicas === 0) {
    context.omit(
      path,
      'Crux starts each service of a version: disable the instance in the deployment if it must not run',
    )
    return
  }
  if (replicas === undefined) context.error(path, `"${toText(value) ?? ''}" is not a number`)
  else context.set('replicas', replicas, path)
  if (replicas !== undefined && replicas > 1)
    context.omit(path, 'Crux starts each service once on a Docker node. The replicas are kept for Kubernetes')
}

function convertCapabilities(context: ServiceContext): void {
  const read = (field: 'cap_add' | 'cap_drop', value: 'add' | 'drop') =>
    toTexts(context.get(field)).map((text, index) => ({
      row: { key: capabilityName(text.trim()), value },
      path: [field, index],
    }))
  setRows(context, 'capabilities', [...read('cap_add', 'add'), ...read('cap_drop', 'drop')], (rows) => {
    context.config.capabilities = rows
  })
}

type Ulimit = NonNullable<ContainerConfigFields['ulimits']>[number]

function convertUlimits(context: ServiceContext): void {
  const rows: PlacedRow<Ulimit>[] = []
  for (const [name, value] of Object.entries(toComposeRecord(context.get('ulimits')))) {
    if (name.startsWith('x-')) continue
    const path = ['ulimits', name]
    const key = ulimitNames.find((known) => known === name)
    const soft = toNumber(isComposeRecord(value) ? value.soft : value)
    const hard = toNumber(isComposeRecord(value) ? value.hard : value)
    if (!key) context.error(path, `${name} is not a limit: use one of ${ulimitNames.join(', ')}`)
    else if (soft === undefined || hard === undefined)
      context.error(path, 'A limit is a number, or the numbers soft and hard')
    else rows.push({ row: { key, soft, hard }, path })
  }
  setRows(context, 'ulimits', rows, (ulimits) => {
    context.config.ulimits = ulimits
  })
}

type ExtraHostRow = NonNullable<ContainerConfigFields['extraHosts']>[number]

/** `name:address`, `name=address`, or a mapping, whose values may be lists of addresses. */
function convertExtraHosts(context: ServiceContext): void {
  const value = context.get('extra_hosts')
  const rows = new Map<string, PlacedRow<ExtraHostRow>>()
  const add = (row: ExtraHostRow, path: (string | number)[]) => {
    if (!ExtraHost.shape.value.safeParse(row.value).success)
      context.error(path, `"${row.value}" is not an IP address: write one, or host-gateway for the node itself`)
    else if (!rows.has(row.key)) rows.set(row.key, { row, path })
    else context.omit(path, `Crux has one address for each name: ${row.value} is left out`)
  }
  if (isComposeRecord(value))
    for (const [key, addresses] of Object.entries(value))
      for (const address of toTexts(addresses))
        add({ key, value: address.replace(/^\[|\]$/g, '') }, ['extra_hosts', key])
  else
    for (const [index, item] of toList(value).entries()) {
      const path = ['extra_hosts', index]
      const row = parseExtraHost(toText(item) ?? '')
      if (row) add(row, path)
      else context.error(path, 'Write a name and an address: "db.internal:10.0.0.5"')
    }
  setRows(context, 'extraHosts', [...rows.values()], (hosts) => {
    context.config.extraHosts = hosts
  })
}
