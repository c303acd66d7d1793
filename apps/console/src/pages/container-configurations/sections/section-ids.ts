import type { SectionId } from '../form/sections.ts'

export type BasicSectionId = (typeof basicSections)[number]
const basicSections = [
  'secrets',
  'ports',
  'volumes',
  'routing',
  'expectedState',
  'networks',
  'restart',
  'log',
  'labels',
] as const satisfies readonly SectionId[]
export const isBasicSection = (id: SectionId): id is BasicSectionId => basicSections.some((basic) => basic === id)

export type AdvancedSectionId = Exclude<SectionId, BasicSectionId | 'general' | 'environment'>
