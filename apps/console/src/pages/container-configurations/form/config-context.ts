import type { Conflicts, FieldChange, Layer, LowerLayers } from '@crux/config-editor'
import type { ContainerConfigField, ContainerConfigFields, ContainerConfigType, Editor, NodeType } from '@crux/contract'
import { type BundleConflict, isUnset, type NotApplied } from '@crux/rules'
import { createContext, useContext } from 'react'
import type { StartProblem } from './start-problems.ts'

/** Everything that a setting of the form needs; one provider per page. */
export type ConfigForm = {
  teamSlug: string
  configId: string
  kind: ContainerConfigType
  /** The kind of node that it is for, where that is known. */
  nodeType: NodeType | null
  /** This layer as it is shown: typed over stored. */
  own: ContainerConfigFields
  /** The layers below, merged; null where there are none. */
  parent: ContainerConfigFields | null
  below: LowerLayers
  /** `seen` is what `value` was made of, where that is not `own`. */
  edit: (field: ContainerConfigField, value: unknown, seen?: ContainerConfigFields) => void
  /** Several fields as one step of undo. */
  editAll: (changes: readonly FieldChange[], seen?: ContainerConfigFields) => void
  reset: (field: ContainerConfigField) => void
  resolve: (property: string, choice: 'mine' | 'theirs') => void
  conflicts: Conflicts
  /** Settings in which config bundles conflict and that this deployment does not set. */
  ambiguities: readonly BundleConflict[]
  /** Settings of any layer that have no effect on this kind of node. */
  notApplied: readonly NotApplied[]
  /** Problems of a start on this node that have no control to be shown at. */
  startProblems: readonly StartProblem[]
  getError: (property: string) => string | undefined
  /** The errors at a place and everything in it: `volumes[1]`. */
  errorsBelow: (property: string) => string[]
  /** For problems without a field to be shown at. */
  firstError: { property: string; description: string } | null
  /** Why nothing can be changed, or null. */
  readOnly: string | null
  editors: {
    focus: (itemId: string, inputId: string) => void
    blur: (itemId: string, inputId: string) => void
    getEditor: (itemId: string, inputId: string) => Editor | undefined
  }
}

const Context = createContext<ConfigForm | null>(null)
export const ConfigFormProvider = Context.Provider

export function useConfigForm(): ConfigForm {
  const form = useContext(Context)
  if (!form) throw new Error('A setting is used outside the configuration form')
  return form
}

/** An image's or a bundle's own layer, which names secrets; the others carry their values. */
export const isBase = (kind: ContainerConfigType): boolean => kind === 'image' || kind === 'config-bundle'

/** The value of this layer, else the inherited one, with its kind and its layer. */
export function getSetting<F extends ContainerConfigField>(
  form: Pick<ConfigForm, 'own' | 'parent' | 'below'>,
  field: F,
): { value: ContainerConfigFields[F]; own: boolean; layer: Layer | undefined } {
  const mine = form.own[field]
  if (form.parent && isUnset(field, mine))
    return { value: form.parent[field], own: false, layer: form.below.getOrigin(field) }
  return { value: mine, own: !isUnset(field, mine), layer: undefined }
}
