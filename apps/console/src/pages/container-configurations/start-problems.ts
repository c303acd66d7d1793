import type { ContainerConfigFields } from '@crux/contract'
import { mergeConfig } from '@crux/rules'
import type { Preview } from '../deployments/change-lines.ts'
import { fieldOf } from './config-rows.ts'
import { targetOf } from './field-target.ts'

/** What stands against a start of this instance, at the place in its own layer where the form can show it. */
export type StartProblem = { property: string; description: string }

/** Fields whose sections show an error beside the control or below the rows; all others show a note on top. */
const shownInFields: ReadonlySet<string> = new Set(['name', 'ports', 'portRanges', 'routing'])
export const isShownInField = ({ property }: StartProblem): boolean => shownInFields.has(fieldOf(property))

/**
 * Problems of a preview count rows in the merged configuration; the form counts them in its own layer. One of a row that another layer
 * brought is shown at its field as a whole.
 *
 * @param said what the form says already: nothing is said twice
 */
export function startProblemsOf(
  preview: Preview | undefined,
  instanceId: string,
  own: ContainerConfigFields,
  below: ContainerConfigFields,
  said: ReadonlySet<string>,
): StartProblem[] {
  const name = preview?.instances.find((instance) => instance.instanceId === instanceId)?.containerName
  const merged = mergeConfig(below, own)
  return (preview?.problems ?? []).flatMap((problem) => {
    const [, path] = /^instances\[\d+\]\.config\.(.+)$/.exec(problem.property) ?? []
    if (path === undefined || problem.instanceId !== instanceId) return []
    const prefix = `${name}: `
    const description = problem.description.startsWith(prefix)
      ? problem.description.slice(prefix.length)
      : problem.description
    if (said.has(description)) return []
    return [{ property: ownProperty(path, own, merged), description }]
  })
}

function ownProperty(path: string, own: ContainerConfigFields, merged: ContainerConfigFields): string {
  const { rowId } = targetOf(path, merged, true)
  if (rowId === undefined) return path
  const field = fieldOf(path)
  const rows: unknown = (own as Record<string, unknown>)[field]
  const index = Array.isArray(rows) ? rows.findIndex((row: { id?: string }) => row.id === rowId) : -1
  return index < 0 ? field : path.replace(/\[\d+\]/, `[${index}]`)
}
