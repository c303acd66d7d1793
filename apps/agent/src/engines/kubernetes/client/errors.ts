import { errorCode } from '@crux/service-kit'
import { EngineError, undefinedIfMissing } from '../../../errors.ts'
import type { ObjectKind } from '../cluster/cluster.ts'
import { isConnectionError } from './api.ts'
import { ApiError, KubeconfigError, NoAnswerError, type Status } from './api-error.ts'
import { getResource } from './kinds.ts'

/** What the cluster was asked to do, for messages. */
export interface Asked {
  /** As the API names it: get, list, create, patch, delete, watch. */
  verb: string
  kind: ObjectKind
  namespace?: string
  /** Absent: a whole collection. */
  name?: string
}

const busyCodes = [429, 502, 503, 504]
const causesMax = 5
/** A request that took too long, and no address that ends with "?timeout=10s". */
const passing = /etcdserver|leader changed|\btimed? ?out\b(?!=)/i
/** The API server fetches a log from the machine of the pod, and repeats the address when that fails. */
const fromMachine = /\/containerLogs\/|\bdial tcp\b/
/** The name is that of a webhook, or the kind and version of the objects that a webhook converts. */
const failedWebhook = /failed calling webhook "([^"]+)"|conversion webhook for (.+?) failed/

/**
 * The one place that knows how the API of Kubernetes and the connection to it report errors. The cluster's own words follow in parentheses,
 * because users need them to search for the cause.
 *
 * @param asked undefined: a request about the cluster itself
 */
export function translate(error: unknown, asked: Asked | undefined): EngineError {
  if (error instanceof EngineError) return error
  if (error instanceof KubeconfigError) return new EngineError('refused', error.message)
  if (error instanceof ApiError) return translateAnswer(error, asked)
  if (isConnectionError(error)) {
    const reason = error instanceof NoAnswerError ? error.message : errorCode(error)
    return new EngineError('unavailable', `The Kubernetes API server does not answer (${reason})`, { cause: error })
  }
  return new EngineError('other', `The agent could not ${describe(asked)}`, { cause: error })
}

export async function translating<T>(asked: Asked | undefined, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw translate(error, asked)
  }
}

/** Like `translating`, but returns undefined for an object that does not exist. */
export const translatingIfThere = <T>(asked: Asked, run: () => Promise<T>): Promise<T | undefined> =>
  translating(asked, run).catch(undefinedIfMissing)

function translateAnswer(cause: ApiError, asked: Asked | undefined): EngineError {
  const { code, status } = cause
  const doing = describe(asked)
  const words = status.message
  if (code === 401)
    return new EngineError(
      'refused',
      "The cluster does not accept the agent's credentials: check the kubeconfig or the service account",
      { cause },
    )
  if (code === 403) return new EngineError('refused', explainRefusal(words, asked), { cause })
  if (code === 404) return new EngineError('not-found', explainMissing(words, asked), { cause })
  if (code === 409) return new EngineError('conflict', explainConflict(status, asked), { cause })
  if (code === 422 || code === 400) return toInvalid(cause, asked)
  if (code === 413) return new EngineError('refused', `The cluster refuses to ${doing}: it is too large`, { cause })
  const webhook = code >= 500 ? toWebhook(words) : undefined
  if (webhook !== undefined)
    return new EngineError(
      'webhook-unavailable',
      quoting(
        `The cluster could not ${doing}: ${webhook} does not answer. Repair the program that serves it, or delete the configuration of the webhook`,
        words,
      ),
      { cause },
    )
  if (busyCodes.includes(code) || passing.test(words))
    return new EngineError(
      'unavailable',
      quoting(`The Kubernetes API server could not ${doing} for now`, words || String(code)),
      { cause },
    )
  return new EngineError('other', quoting(`The cluster could not ${doing}`, words || String(code)), { cause })
}

function toWebhook(words: string): string | undefined {
  const [, admission, converted] = failedWebhook.exec(words) ?? []
  if (admission !== undefined) return `its admission webhook ${admission}`
  return converted === undefined ? undefined : `its conversion webhook for ${converted}`
}

/** A log is missing in two ways: it is not there yet, or no more. */
export function translateLog(error: unknown, asked: Asked): EngineError | 'empty' {
  const words = error instanceof ApiError && error.code === 400 ? error.status.message : ''
  if (error instanceof ApiError && error.code >= 500 && fromMachine.test(error.status.message))
    return new EngineError(
      'unavailable',
      quoting(`The machine of the ${toSubject(asked)} does not answer`, error.status.message),
      { cause: error },
    )
  if (/is waiting to start|ContainerCreating|PodInitializing|is not available|ContainerNotInitialized/.test(words))
    return 'empty'
  if (/not found|is not valid for pod/.test(words))
    return new EngineError('not-found', quoting(`There is no such log of the ${toSubject(asked)}`, words), {
      cause: error,
    })
  return translate(error, asked)
}

function explainMissing(words: string, asked: Asked | undefined): string {
  const isItself = asked?.name !== undefined && asked.verb !== 'create'
  if (isItself) return `There is no ${toSubject(asked)}${asked.namespace ? ` in the namespace ${asked.namespace}` : ''}`
  return words === ''
    ? `The cluster does not know ${asked ? getResource(asked.kind) : 'what it was asked for'}`
    : quoting(`The cluster could not ${describe(asked)}`, words)
}

/** A missing right is one that an admin can grant; quotas and policies are somebody's decision, in their words. */
function explainRefusal(words: string, asked: Asked | undefined): string {
  const missing = /cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]*)")?/.exec(words)
  if (!missing) return quoting(`The cluster refuses to ${describe(asked)}`, withoutSubject(words))
  const [, verb = '', resource = '', group = '', namespace] = missing
  const where = namespace === undefined ? 'in the whole cluster' : `in the namespace ${namespace}`
  const inGroup = group === '' ? '' : ` of the API group ${group}`
  return `The agent has no right to ${verb} ${resource} ${where}: grant its service account the verb "${verb}" on the resource "${resource}"${inGroup}`
}

/** 'services "web" is forbidden: exceeded quota: ...' */
const withoutSubject = (words: string): string => words.replace(/^\S+ "[^"]*" is forbidden: /, '')

function explainConflict({ details, message, reason }: Status, asked: Asked | undefined): string {
  if (reason === 'AlreadyExists') return `The ${toSubject(asked)} exists already`
  const fields = details.causes.filter((cause) => cause.reason === 'FieldManagerConflict')
  if (fields.length > 0) {
    const named = fields.slice(0, causesMax).map(({ field, message: by }) => `${field} (${toManager(by)})`)
    const more = fields.length > causesMax ? ` and ${fields.length - causesMax} more` : ''
    return `The ${toSubject(asked)} has fields that another program manages: ${named.join(', ')}${more}. Remove them there, or leave them out of the configuration`
  }
  return quoting(`The ${toSubject(asked)} was changed or replaced in the meantime`, message)
}

/** 'conflict with "kubectl-edit" using apps/v1 at 2026-...': only the name matters. */
export const toManager = (message: string): string => /conflict with "([^"]*)"/.exec(message)?.[1] ?? 'another manager'

function toInvalid(cause: ApiError, asked: Asked | undefined): EngineError {
  const { causes } = cause.status.details
  // A replaced object is met as an attempt to change its identity.
  if (causes.some(({ field }) => field === 'metadata.uid'))
    return new EngineError('conflict', `The ${toSubject(asked)} was replaced in the meantime`, { cause })
  // The cluster repeats values that it does not accept; those of secrets must stay unknown.
  const isSecret = asked?.kind === 'Secret'
  const fields = [
    ...new Set(causes.map(({ field, message }) => (isSecret || message === '' ? field : `${field}: ${message}`))),
  ]
  const words = fields.length > 0 ? fields.slice(0, causesMax).join('; ') : isSecret ? '' : cause.status.message
  return new EngineError('refused', quoting(`The cluster does not accept the ${toSubject(asked)}`, words), { cause })
}

const quoting = (sentence: string, words: string) => (words === '' ? sentence : `${sentence} (Kubernetes: ${words})`)

const toSubject = (asked: Asked | undefined): string =>
  asked === undefined ? 'request' : asked.name === undefined ? getResource(asked.kind) : `${asked.kind} ${asked.name}`

function describe(asked: Asked | undefined): string {
  if (asked === undefined) return 'describe the cluster'
  const verb = asked.verb === 'patch' ? 'change' : asked.verb
  const where = asked.namespace && asked.kind !== 'Namespace' ? ` in the namespace ${asked.namespace}` : ''
  return `${verb} ${asked.name === undefined ? '' : 'the '}${toSubject(asked)}${where}`
}
