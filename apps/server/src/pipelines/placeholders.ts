import { CruxError, limits } from '@crux/contract'
import { fillPlaceholders } from '@crux/rules'
import { withinTime } from '@crux/service-kit'
import type { App } from '../context.ts'
import type { RunEvent } from '../db/schema/pipelines.ts'
import { readRepositoryLabels } from '../registries/index.ts'
import type { ClaimedRun } from './claim-store.ts'
import type { StoredInput } from './store.ts'

const labelsMs = 20_000
const retryInS = 30

type Labels = Readonly<Record<string, string>>

export function needsLabels(inputs: readonly StoredInput[]): boolean {
  let isNeeded = false
  const label = () => {
    isNeeded = true
    return ''
  }
  for (const { value } of inputs) fillPlaceholders(value, { name: '', tag: '', label })
  return isNeeded
}

/**
 * Replaces every placeholder. It is one pass: what a name, tag or label contains is never read as a placeholder itself.
 * A label that the image does not have is empty.
 */
export const replacePlaceholders = (text: string, event: RunEvent, labels: Labels): string =>
  fillPlaceholders(text, {
    name: event.imageName,
    tag: event.tag,
    label: (key) => (Object.hasOwn(labels, key) ? (labels[key] ?? '') : ''),
  })

type Resolved = { inputs: StoredInput[] } | { problem: string; retryInS?: number }

/** The inputs of a run with the values of its event. Only a run that needs labels reads them from the registry. */
export async function resolveInputs(app: App, { teamId, inputs, event }: ClaimedRun): Promise<Resolved> {
  if (!event) return { inputs }
  let labels: Labels = {}
  if (needsLabels(inputs)) {
    try {
      labels = await readLabels(app, teamId, event)
    } catch (error) {
      return toProblem(app, event, error)
    }
  }
  const replaced = inputs.map((input) => ({ ...input, value: replacePlaceholders(input.value, event, labels) }))
  const long = replaced.find(({ value }) => value.length > limits.pipelineInput.max)
  return long
    ? {
        problem: `The value of ${long.key} is longer than ${limits.pipelineInput.max} characters with the labels of the image.`,
      }
    : { inputs: replaced }
}

const readLabels = (app: App, teamId: string, { registryId, imageName, tag, digest }: RunEvent): Promise<Labels> =>
  withinTime(
    readRepositoryLabels(app, { id: teamId }, { registryId, repository: imageName, reference: digest ?? tag }),
    labelsMs,
    (): Labels => {
      throw new CruxError('serviceUnavailable', {
        property: 'url',
        description: 'The registry did not answer in time.',
      })
    },
  )

/** A limit or a registry that is down for a moment is tried again. */
function toProblem(app: App, event: RunEvent, error: unknown): Resolved {
  app.log.info({ err: error, ...event }, 'the labels of an image could not be read for a run')
  const reason = error instanceof CruxError ? error.message : 'The registry did not answer.'
  const problem = `The labels of ${event.imageName}:${event.tag} could not be read: ${reason}`
  const isLasting =
    error instanceof CruxError &&
    (['notFound', 'registryUnauthorized', 'preconditionFailed'].includes(error.code) ||
      (error.code === 'invalidArgument' && error.property === 'registryId'))
  return isLasting ? { problem } : { problem, retryInS }
}
