import type { ContainerConfigField, ContainerConfigFields, Editor } from '@crux/contract'
import { createContext, useContext } from 'react'
import type { Conflicts } from './config-rows.ts'

/** Everything that a setting of the form needs; one provider per page. */
export type ConfigForm = {
  configId: string
  kind: 'image' | 'instance'
  /** This layer as it is shown: typed over stored. */
  own: ContainerConfigFields
  /** The layer below, for an instance: that of its image. */
  parent: ContainerConfigFields | null
  /** `seen` is what `value` was made of, where that is not `own`. */
  edit: (field: ContainerConfigField, value: unknown, seen?: ContainerConfigFields) => void
  reset: (field: ContainerConfigField) => void
  resolve: (property: string, choice: 'mine' | 'theirs') => void
  conflicts: Conflicts
  errorOf: (property: string) => string | undefined
  /** Why nothing can be changed, or null. */
  readOnly: string | null
  editors: {
    focus: (itemId: string, inputId: string) => void
    blur: (itemId: string, inputId: string) => void
    editorOf: (itemId: string, inputId: string) => Editor | undefined
  }
}

const Context = createContext<ConfigForm | null>(null)
export const ConfigFormProvider = Context.Provider

export function useConfigForm(): ConfigForm {
  const form = useContext(Context)
  if (!form) throw new Error('A setting stands inside the configuration form')
  return form
}

/** Own value, else that of the layer below; and which of both it is. */
export function settingOf<F extends ContainerConfigField>(
  form: ConfigForm,
  field: F,
): { value: ContainerConfigFields[F]; own: boolean } {
  const mine = form.own[field]
  const unset =
    mine === null || mine === undefined || (field === 'user' && mine === -1) || (field === 'name' && mine === '')
  const empty = (field === 'args' || field === 'commands') && Array.isArray(mine) && mine.length === 0
  if (form.parent && (unset || empty)) return { value: form.parent[field], own: false }
  return { value: mine, own: !unset }
}
