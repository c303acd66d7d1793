import {
  type ContainerConfigField,
  type ContainerConfigFields,
  containerConfigGroups,
  type NodeType,
} from '@crux/contract'
import { isKeyedField, isUnset, rowKey, rowsIn } from '@crux/rules'

export type Group = keyof typeof containerConfigGroups
export const groups: readonly Group[] = ['common', 'docker', 'kubernetes']

/** The parts of the form in their order: the content and the group of each. */
const sections = {
  general: { group: 'common', fields: ['name', 'commands', 'args', 'workingDirectory', 'user', 'tty'] },
  environment: { group: 'common', fields: ['environment'] },
  secrets: { group: 'common', fields: ['secrets'] },
  ports: { group: 'common', fields: ['ports', 'portRanges', 'portGate'] },
  volumes: { group: 'common', fields: ['volumes'] },
  storage: { group: 'common', fields: ['storage'] },
  routing: { group: 'common', fields: ['expose', 'routing'] },
  health: { group: 'common', fields: ['healthCheckConfig'] },
  resources: { group: 'common', fields: ['resourceConfig'] },
  stop: { group: 'common', fields: ['stopGracePeriodSeconds', 'stopSignal'] },
  initContainers: { group: 'common', fields: ['initContainers'] },
  configContainer: { group: 'common', fields: ['configContainer'] },
  expectedState: { group: 'common', fields: ['expectedState'] },
  restart: { group: 'docker', fields: ['restartPolicy'] },
  networks: { group: 'docker', fields: ['networkMode', 'networks'] },
  extraHosts: { group: 'docker', fields: ['extraHosts'] },
  log: { group: 'docker', fields: ['logConfig'] },
  labels: { group: 'docker', fields: ['dockerLabels'] },
  capabilities: { group: 'common', fields: ['capabilities'] },
  limits: { group: 'docker', fields: ['ulimits', 'shmSize'] },
  strategy: { group: 'kubernetes', fields: ['deploymentStrategy', 'replicas'] },
  headers: { group: 'kubernetes', fields: ['proxyHeaders', 'customHeaders'] },
  loadBalancer: { group: 'kubernetes', fields: ['useLoadBalancer', 'extraLBAnnotations'] },
  kubernetesLabels: { group: 'kubernetes', fields: ['labels'] },
  annotations: { group: 'kubernetes', fields: ['annotations'] },
  metrics: { group: 'kubernetes', fields: ['metrics'] },
} as const satisfies Record<string, { group: Group; fields: readonly ContainerConfigField[] }>

export type SectionId = keyof typeof sections
export const sectionIds = Object.keys(sections).filter((id): id is SectionId => Object.hasOwn(sections, id))
export const getGroup = (id: SectionId): Group => sections[id].group
export const fieldsIn = (id: SectionId): readonly ContainerConfigField[] => sections[id].fields

/** The filter of the form; without one it shows settings in use. */
export type FieldFilter = 'all' | Group

/** The settings of a section that match a filter; a section without any is hidden. */
export const fieldsFor = (id: SectionId, filter: FieldFilter | undefined): readonly ContainerConfigField[] =>
  fieldsIn(id).filter((field) => fits(field, filter))

export const fits = (field: ContainerConfigField, filter: FieldFilter | undefined): boolean =>
  filter === undefined || filter === 'all' || containerConfigGroups[filter].some((name) => name === field)

/** What an empty configuration offers first. */
export const everydaySections = ['environment', 'ports', 'volumes', 'general', 'routing', 'secrets'] as const

/** Whether this layer or a lower one sets it. An empty list is a value, but shows nothing. */
export function holdsValue(id: SectionId, own: ContainerConfigFields, parent: ContainerConfigFields | null): boolean {
  return fieldsIn(id).some((field) => isSeen(field, own[field]) || isSeen(field, parent?.[field]))
}

/** How many rows the lists of a section have with those below; undefined where there are none or it holds no list. */
export function countIn(
  id: SectionId,
  filter: FieldFilter | undefined,
  own: ContainerConfigFields,
  parent: ContainerConfigFields | null,
): number | undefined {
  const keys = fieldsFor(id, filter)
    .filter(isKeyedField)
    .flatMap((field) => [...new Set([...rowsIn(own, field), ...rowsIn(parent ?? {}, field)].map(rowKey))])
  return keys.length || undefined
}

/** Whether a kind of node supports a section; base layers are for both kinds. */
export const isFor = (id: SectionId, nodeType: NodeType | null): boolean =>
  nodeType === null || getGroup(id) === 'common' || getGroup(id) === (nodeType === 'docker' ? 'docker' : 'kubernetes')

const isSeen = (field: ContainerConfigField, value: unknown): boolean =>
  !isUnset(field, value) && !(Array.isArray(value) && value.length === 0) && value !== false
