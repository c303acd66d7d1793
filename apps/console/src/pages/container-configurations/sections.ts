import type { ContainerConfigField } from '@crux/contract'
import { containerConfigGroups } from '@crux/contract'

export const sectionIds = [
  'general',
  'environment',
  'ports',
  'volumes',
  'routing',
  'expectedState',
  'networks',
  'restart',
  'log',
  'labels',
  'other',
] as const
export type SectionId = (typeof sectionIds)[number]
export type Group = 'common' | 'docker' | 'kubernetes'

/** What each section of the form holds, and under which group it stands. */
export const sectionFields: Record<Exclude<SectionId, 'other'>, readonly ContainerConfigField[]> = {
  general: ['name', 'commands', 'args', 'workingDirectory', 'user', 'tty'],
  environment: ['environment'],
  ports: ['ports', 'portRanges'],
  volumes: ['volumes'],
  routing: ['expose', 'routing'],
  expectedState: ['expectedState'],
  networks: ['networkMode', 'networks'],
  restart: ['restartPolicy'],
  log: ['logConfig'],
  labels: ['dockerLabels'],
}

export const sectionGroups: Record<SectionId, Group> = {
  general: 'common',
  environment: 'common',
  ports: 'common',
  volumes: 'common',
  routing: 'common',
  expectedState: 'common',
  networks: 'docker',
  restart: 'docker',
  log: 'docker',
  labels: 'docker',
  other: 'kubernetes',
}

const inForm = new Set<string>(Object.values(sectionFields).flat())
/** Settings that have no form yet: they are kept, merged and deployed where the agent knows them, and shown read-only. */
export const otherFields: readonly ContainerConfigField[] = Object.values(containerConfigGroups)
  .flat()
  .filter((field) => !inForm.has(field))
