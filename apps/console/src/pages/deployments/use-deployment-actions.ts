import type { Deployment } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { Copy, ExternalLink, Rocket, ScrollText, StickyNote, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { confirm } from '../../components/confirm.tsx'
import { links } from '../../routing/links.ts'
import type { RowAction } from '../../table/columns.ts'
import { deploymentReasons } from './deployment-reason.ts'
import type { useStart } from './use-start.ts'

type Options = Pick<ReturnType<typeof useStart>, 'askAndStart' | 'startDenied'> & {
  onCopy: (deployment: Deployment) => void
  onDelete: (deployment: Deployment) => void
}

/** The actions of a deployment in the list, each with the reason if its state or a missing right prevents it. */
export function useDeploymentActions(teamSlug: string, { askAndStart, startDenied, onCopy, onDelete }: Options) {
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const denied = { copy: useDenied('deployments.copy'), delete: useDenied('deployments.delete') }
  return (row: Deployment): RowAction[] => {
    const reason = deploymentReasons(row)
    return [
      {
        id: 'log',
        label: t('action.log'),
        icon: ScrollText,
        inline: true,
        disabledReason: reason('read-log'),
        run: () => void navigate(links.deploymentProgress(teamSlug, row.id)),
      },
      {
        id: 'copy',
        label: t('action.copy'),
        icon: Copy,
        inline: true,
        disabledReason: denied.copy ?? reason('copy'),
        run: () => onCopy(row),
      },
      {
        id: 'open',
        label: t('action.open'),
        icon: ExternalLink,
        run: () => void navigate(links.deployment(teamSlug, row.id)),
      },
      {
        id: 'deploy',
        label: t('action.deploy'),
        icon: Rocket,
        disabledReason: startDenied ?? reason('deploy'),
        run: () => void askAndStart(row),
      },
      {
        id: 'note',
        label: t('action.note'),
        icon: StickyNote,
        disabledReason: !row.note && t('action.noNote'),
        run: () =>
          void confirm({ title: t('action.note'), text: row.note ?? '', action: t('common:close'), info: true }),
      },
      {
        id: 'delete',
        label: t('common:delete'),
        icon: Trash2,
        danger: true,
        disabledReason: denied.delete ?? reason('delete'),
        run: () => onDelete(row),
      },
    ]
  }
}
