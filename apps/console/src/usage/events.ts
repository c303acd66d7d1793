import type { Operation } from '@crux/contract'
import { valueAt } from '../api/unknown-data.ts'

/** Every named event that is sent: what users of several teams do with the product, never with what. */
export const namedEvents: Partial<Record<Operation, string>> = {
  'teams.create': 'team created',
  'nodes.create': 'node created',
  'registries.create': 'registry created',
  'projects.create': 'project created',
  'projects.import': 'project imported',
  'projects.run': 'image run',
  'templates.create': 'template used',
  'versions.create': 'version created',
  'versions.increase': 'version increased',
  'versions.import': 'version imported',
  'images.create': 'images added',
  'deployments.create': 'deployment created',
  'deployments.copy': 'deployment copied',
  'deployments.start': 'deployment started',
  'deployments.start-release': 'deployment rolled back',
  'config-bundles.create': 'config bundle created',
  'storages.create': 'storage created',
  'packages.create': 'package created',
  'pipelines.create': 'pipeline created',
  'notifications.create': 'notification created',
}

/** The name of an error and our own code of it. Messages and stacks may hold what users typed, so that neither is sent. */
export function describeException(error: unknown): { name: string; code: string | null } {
  const [name, code] = [valueAt(error, 'name'), valueAt(error, 'error')]
  const isName = typeof name === 'string' && /^[A-Za-z]{1,40}$/.test(name)
  const isCode = typeof code === 'string' && /^[A-Za-z]{1,40}$/.test(code)
  return { name: isName ? name : 'Error', code: isCode ? code : null }
}
