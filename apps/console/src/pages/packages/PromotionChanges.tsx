import type { ApiError } from '@crux/client'
import type { ResponseOf } from '@crux/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { CopyPlus, FileInput, TriangleAlert } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import { WhatChanges } from '../deployments/WhatChanges.tsx'

type Preview = ResponseOf<'packages.preview-promotion'>
type Props = {
  teamSlug: string
  preview: UseQueryResult<Preview, ApiError>
  version: { name: string }
}

/** Where the configuration comes from, and what the deployment would change. That of another version stays, faded, until the new one is here. */
export function PromotionChanges({ teamSlug, preview, version }: Props) {
  const { t } = useTranslation('packages')
  if (preview.isError) return <ErrorState error={preview.error} retry={() => void preview.refetch()} />
  if (!preview.data) return <SkeletonRows rows={3} />
  const { preview: changes } = preview.data
  return (
    <section
      aria-label={t('promote.changes')}
      aria-busy={preview.isPlaceholderData}
      className={preview.isPlaceholderData ? 'opacity-50' : undefined}
    >
      <h3 className="mb-[5px] font-strong">{t('promote.changes')}</h3>
      <div className="divide-y divide-line rounded-md border border-line bg-surface">
        <Source teamSlug={teamSlug} preview={preview.data} version={version} />
        <WhatChanges preview={withoutFreeze(changes)} />
      </div>
    </section>
  )
}

/** The freeze has a part of its own in the dialog. */
const withoutFreeze = (preview: Preview['preview']): Preview['preview'] => ({
  ...preview,
  problems: preview.problems.filter(({ property }) => property !== 'freezeWindow'),
})

function Source({ teamSlug, preview, version }: { teamSlug: string; preview: Preview; version: { name: string } }) {
  const { t } = useTranslation('packages')
  const { source, deploymentId, unmatched } = preview
  return (
    <>
      <p className="flex items-start gap-2 px-3 py-2.5">
        {source ? (
          <CopyPlus aria-hidden className="mt-0.5 text-ink-2" />
        ) : (
          <FileInput aria-hidden className="mt-0.5 text-ink-2" />
        )}
        <span className="min-w-0 wrap-anywhere">
          {deploymentId
            ? t('promote.existing', { version: version.name })
            : source
              ? t('promote.source', { version: source.version.name })
              : t('promote.noSource')}{' '}
          {deploymentId && (
            <TextLink {...links.deployment(teamSlug, deploymentId)} inline>
              {t('promote.openExisting')}
            </TextLink>
          )}
        </span>
      </p>
      {source && !deploymentId && unmatched.length > 0 && (
        <p className="flex items-start gap-2 px-3 py-2.5">
          <TriangleAlert aria-hidden className="mt-0.5 text-progress" />
          <span className="min-w-0 wrap-anywhere">
            {t('promote.unmatched', {
              count: unmatched.length,
              names: unmatched.map(({ name }) => name).join(', '),
            })}
          </span>
        </p>
      )}
    </>
  )
}
