import type { FieldTarget } from '@crux/config-editor'
import type { ContainerConfigField } from '@crux/contract'
import { EyeOff, Plus } from 'lucide-react'
import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../../components/Box.tsx'
import { Button, IconButton } from '../../../components/Button.tsx'
import { FieldError } from '../../../components/Field.tsx'
import { useConfigForm } from './config-context.ts'
import { FieldNotes } from './FieldNotes.tsx'
import { SettingOrigin, SettingReset } from './Origin.tsx'
import { fieldsIn, type SectionId } from './sections.ts'

/** Takes a section out of the form; given by the form that shows it. */
const HideContext = createContext<((id: SectionId) => void) | null>(null)
export const HideProvider = HideContext.Provider

/** The target of a link, so that a long list renders its row. */
const TargetContext = createContext<FieldTarget | null>(null)
export const TargetProvider = TargetContext.Provider
export const useFieldTarget = () => useContext(TargetContext)

/** The section that was just chosen: if it has no rows, it adds an empty one. Each choice is a new object. */
export type OpenedSection = { id: SectionId }
const BegunContext = createContext<OpenedSection | null>(null)
export const BegunProvider = BegunContext.Provider
/** Choices that were handled, so that mounting a section again adds no second row. */
const begun = new WeakSet<OpenedSection>()

type Props = {
  id: SectionId
  trailing?: ReactNode
  /** The setting that the section is about: the head shows its origin and how to clear it. */
  origin?: ContainerConfigField
  /** A list with an origin in each row: the head shows only how to clear it. */
  reset?: ContainerConfigField
  actions?: ReactNode
  onAdd?: () => void
  children: ReactNode
}

/** One part of the form; the navigation beside it leads to its id. */
export function Section({ id, trailing, origin, reset, actions, onAdd, children }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly } = useConfigForm()
  const hide = useContext(HideContext)
  const wanted = useContext(BegunContext)
  useEffect(() => {
    if (wanted?.id !== id || begun.has(wanted) || !onAdd || readOnly) return
    begun.add(wanted)
    onAdd()
  })
  const title = t(`section.${id}`)
  return (
    <div id={`section-${id}`} className="scroll-mt-16">
      <Box
        label={title}
        title={title}
        trailing={trailing}
        actions={
          <>
            {origin && <SettingOrigin field={origin} label={title} />}
            {reset && <SettingReset field={reset} label={title} />}
            {actions}
            {onAdd && (
              <Button size="sm" icon={Plus} disabledReason={readOnly} onClick={onAdd}>
                {t('add')}
              </Button>
            )}
            {hide && (
              <IconButton icon={EyeOff} size="sm" label={t('hide', { section: title })} onClick={() => hide(id)} />
            )}
          </>
        }
      >
        {fieldsIn(id).map((field) => (
          <FieldNotes key={field} field={field} />
        ))}
        {children}
      </Box>
    </div>
  )
}

/** Settings of a section beside each other where there is room. */
export const SettingGrid = ({ children }: { children: ReactNode }) => (
  <div className="grid gap-x-5 gap-y-4 p-3 sm:grid-cols-2">{children}</div>
)

type SettingProps = {
  label: string
  origin?: ReactNode
  help?: ReactNode
  error?: string
  wide?: boolean
  children: ReactNode
}

/** A named setting inside a section: label, origin, control, error in the place of help. */
export function Setting({ label, origin, help, error, wide, children }: SettingProps) {
  return (
    <div className={wide ? 'grid content-start gap-[5px] sm:col-span-2' : 'grid content-start gap-[5px]'}>
      <div className="flex min-h-[26px] items-center gap-2">
        <span className="font-strong">{label}</span>
        <span className="ml-auto">{origin}</span>
      </div>
      {children}
      {error ? <FieldError>{error}</FieldError> : help && <p className="text-small text-ink-2">{help}</p>}
    </div>
  )
}

/** The errors of a list, below its rows, each with the row it belongs to. */
export function RowErrors({ errors }: { errors: readonly (string | undefined)[] }) {
  const found = [...new Set(errors.filter((error): error is string => Boolean(error)))]
  if (found.length === 0) return null
  return (
    <div className="grid gap-1 px-3 pb-3">
      {found.map((error) => (
        <FieldError key={error}>{error}</FieldError>
      ))}
    </div>
  )
}
