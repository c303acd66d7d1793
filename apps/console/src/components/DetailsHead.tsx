import type { LinkProps } from '@tanstack/react-router'
import { Pencil, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { AnimalIcon, type AnimalName } from './AnimalIcon.tsx'
import { Button } from './Button.tsx'
import { PageHeader } from './PageHeader.tsx'

export type Removal = { ask: () => Promise<void>; busy: boolean; denied: string | null }

type Props = {
  of: { name: string; description?: string | null; icon?: AnimalName | null }
  list: { label: string; link: LinkProps }
  edit: { denied: string | null; show: () => void }
  removal: Removal
  /** Why it cannot be deleted now. */
  inUse: string | false
  /** Actions before edit and delete. */
  actions?: ReactNode
}

/** The head of a page about one thing of the team, which can be edited and deleted. */
export function DetailsHead({ of, list, edit, removal, inUse, actions }: Props) {
  const { t } = useTranslation()
  return (
    <PageHeader
      title={of.name}
      crumbs={[list]}
      mark={of.icon && <AnimalIcon name={of.icon} className="text-ink-2" />}
      subtitle={of.description}
      actions={
        <>
          {actions}
          <Button icon={Pencil} disabledReason={edit.denied} onClick={edit.show}>
            {t('edit')}
          </Button>
          <Button
            icon={Trash2}
            variant="bad"
            busy={removal.busy}
            disabledReason={removal.denied ?? inUse}
            onClick={() => void removal.ask()}
          >
            {t('delete')}
          </Button>
        </>
      }
    />
  )
}
