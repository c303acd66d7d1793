import { findFieldTarget, getField } from '@crux/config-editor'
import { type ContainerConfigFields, isContainerConfigField } from '@crux/contract'
import { mergeConfig } from '@crux/rules'
import { type Preview, withoutName } from '../../deployments/change-lines.ts'
import { toSentence } from '../../deployments/release-failure.ts'

/** What prevents a start of this instance, at the position in its own layer where the form can show it. */
export type StartProblem = { property: string; error: string; description: string }

/** Fields whose sections show an error beside the control or below its row. */
const shownInFields: ReadonlySet<string> = new Set(['name', 'ports', 'portRanges', 'routing'])

/** Where a problem is shown: beside its control, as a note above the section, or only by the state of its row. */
export function placeOfProblem({ property, error }: StartProblem): 'field' | 'note' | 'row' {
  if (error === 'missingSecret') return 'row'
  return shownInFields.has(getField(property)) ? 'field' : 'note'
}

/** Names a row in a property: by its index in this layer, or by its id if it comes from another layer. */
export const rowProperty = (field: string, index: number, row: { id?: string }): string =>
  `${field}[${index < 0 ? row.id : index}]`

/**
 * Problems of a preview count rows in the merged configuration; the form counts them in its own layer, and names the rows of other
 * layers by their ids.
 *
 * @param said problems that the form already shows, which are not repeated
 */
export function getStartProblems(
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
    const description = withoutName(problem.description, name)
    if (said.has(description)) return []
    return [
      { property: ownProperty(path, own, merged), error: problem.error, description: toSentence(description, []) },
    ]
  })
}

function ownProperty(path: string, own: ContainerConfigFields, merged: ContainerConfigFields): string {
  const { rowId } = findFieldTarget(path, merged, true)
  if (rowId === undefined) return path
  const field = getField(path)
  const rows: unknown = isContainerConfigField(field) ? own[field] : undefined
  const index = Array.isArray(rows) ? rows.findIndex((row: { id?: string }) => row.id === rowId) : -1
  return path.includes('[')
    ? path.replace(/^\w+\[\d+\]/, rowProperty(field, index, { id: rowId }))
    : index < 0
      ? field
      : path
}
