import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { FieldError } from '../../components/Field.tsx'
import { useConfigForm } from './config-context.ts'
import type { SectionId } from './sections.ts'

type Props = {
  id: SectionId
  title: string
  aside?: ReactNode
  tools?: ReactNode
  onAdd?: () => void
  children: ReactNode
}

/** One part of the form; the navigation beside it leads to its id. */
export function Section({ id, title, aside, tools, onAdd, children }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly } = useConfigForm()
  return (
    <div id={`section-${id}`} className="scroll-mt-16">
      <Box
        label={title}
        title={title}
        aside={aside}
        tools={
          <>
            {tools}
            {onAdd && (
              <Button size="sm" icon={Plus} disabledReason={readOnly} onClick={onAdd}>
                {t('add')}
              </Button>
            )}
          </>
        }
      >
        {children}
      </Box>
    </div>
  )
}

/** A named setting inside a section: label, origin, control, error in the place of help. */
export function Setting({
  label,
  origin,
  help,
  error,
  children,
}: {
  label: string
  origin?: ReactNode
  help?: ReactNode
  error?: string
  children: ReactNode
}) {
  return (
    <div className="grid content-start gap-[5px]">
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
