import { deploymentStatuses } from '@crux/contract'
import { z } from 'zod'

/** Plain text on both sides: the router's own way takes the code 866697 of a mail's link for a number, and quotes it in an address. */
export const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text))

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null)
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** Search parameters of the routes. A value that does not fit is dropped, so that an old or mistyped address still opens. */
const text = z.string().min(1).max(255).optional().catch(undefined)
const number = z.coerce.number().int().min(0).optional().catch(undefined)

export const composerSearch = z.object({
  section: z.enum(['containers', 'environment', 'not-kept']).optional().catch(undefined),
  /** The project that the version is proposed for. */
  project: z.uuid().optional().catch(undefined),
})
export const versionSearch = z.object({
  section: z.enum(['images', 'deployments', 'reorder']).optional().catch(undefined),
})
export const nodeSearch = z.object({
  section: z.enum(['containers', 'deployments', 'images', 'machines', 'events']).optional().catch(undefined),
  prefix: text,
})
export const logSearch = z.object({
  prefix: z.string().max(63).catch(''),
  name: z.string().max(255).catch(''),
  pod: z.string().max(255).optional().catch(undefined),
})
export const containerSearch = z.object({ prefix: z.string().max(63).catch(''), name: z.string().max(255).catch('') })
export const deploymentsSearch = z.object({
  skip: number,
  take: number,
  nodeId: z.uuid().optional().catch(undefined),
  status: z.enum(deploymentStatuses).optional().catch(undefined),
  filter: text,
})
/** The page of the promotions to an environment. */
export const environmentSearch = z.object({ skip: number, take: number })
export const configurationSearch = z.object({
  view: z.enum(['json', 'final']).optional().catch(undefined),
  /** Which kind of settings the form shows; absent = those in use. */
  fields: z.enum(['all', 'common', 'docker', 'kubernetes']).optional().catch(undefined),
})
const instant = z.iso.datetime({ offset: true }).optional().catch(undefined)
export const auditLogSearch = z.object({
  skip: number,
  take: number,
  from: instant,
  to: instant,
  filter: text,
  accepted: z.enum(['true', 'false']).optional().catch(undefined),
})
/** Which release of a deployment; absent = the newest. */
export const progressSearch = z.object({ try: z.coerce.number().int().min(1).optional().catch(undefined) })
export const loginSearch = z.object({
  flow: text,
  refresh: text,
  return_to: z.string().max(2048).optional().catch(undefined),
  aal: text,
  invitation: text,
})
export const registerSearch = z.object({
  flow: text,
  return_to: z.string().max(2048).optional().catch(undefined),
  email: text,
})
export const verifySearch = z.object({ flow: text, email: text, code: text, restart: text })
export const recoverySearch = z.object({ flow: text, email: text, code: text })
export const accountSearch = z.object({
  flow: text,
  code: text,
  team: z.uuid().optional().catch(undefined),
  invitation: text,
})
export const settingsSearch = z.object({ flow: text })
export const registerOidcSearch = z.object({ flow: text })
export const errorSearch = z.object({ id: text })
