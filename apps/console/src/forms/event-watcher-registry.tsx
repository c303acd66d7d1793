import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../api/client.ts'
import { TextLink } from '../components/TextLink.tsx'
import { links } from '../routing/links.ts'

type Props = { teamSlug: string; registryId: string; isNone: boolean; cannotReport: boolean }

/** Why no event would reach the watcher: no registry can report it, or the chosen one has no token or secret to report with. */
export function ReportingRegistryNote({ teamSlug, registryId, isNone, cannotReport }: Props) {
  const { t } = useTranslation('pipelines')
  const params = { teamSlug, registryId }
  const enabled = registryId !== '' && !cannotReport
  const registry = useQuery({ ...apiQuery('registries.get', { params }), enabled })
  const hooks = useQuery({ ...apiQuery('registries.list-hooks', { params }), enabled })
  if (cannotReport) return <Note>{t('watchers.cannotReport')}</Note>
  if (isNone)
    return (
      <Note>
        {t('watchers.noRegistry')}{' '}
        <TextLink inline target="_blank" {...links.registries(teamSlug)}>
          {t('watchers.registries')}
        </TextLink>
      </Note>
    )
  const isSilent = registry.data && !registry.data.registryToken && hooks.data?.length === 0
  if (!enabled || !isSilent) return null
  return (
    <Note>
      {t('watchers.silent')}{' '}
      <TextLink inline target="_blank" {...links.registry(teamSlug, registryId)}>
        {t('watchers.setUpHook', { name: registry.data.name })}
      </TextLink>
    </Note>
  )
}

const Note = ({ children }: { children: ReactNode }) => (
  <p role="status" className="flex items-start gap-2 rounded-md px-2.5 py-2 tinted-progress">
    <TriangleAlert aria-hidden className="mt-0.5 shrink-0 text-progress" />
    <span>{children}</span>
  </p>
)
