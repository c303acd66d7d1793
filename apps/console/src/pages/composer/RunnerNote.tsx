import { LoaderCircle, RotateCw, TriangleAlert } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import type { RunnerStatus } from '../../composer/compose-runner.ts'

type Props = { status: RunnerStatus; isStored: boolean; retry: () => void }

/** That reading was stopped or failed, and that the draft is too large to survive a reload. */
export function RunnerNote({ status, isStored, retry }: Props) {
  const { t } = useTranslation(['composer', 'common'])
  const isBroken = status === 'stopped' || status === 'failed'
  return (
    <>
      {isBroken && (
        <div role="alert" className="flex flex-wrap items-center gap-2 rounded-md px-3 py-1.5 tinted-failed">
          <TriangleAlert aria-hidden className="text-failed" />
          <span className="min-w-0 flex-1 basis-56">{t(`runner.${status}`)}</span>
          <Button size="sm" icon={RotateCw} onClick={retry}>
            {t('common:error.retry')}
          </Button>
        </div>
      )}
      {!isStored && <p className="text-small text-progress">{t('runner.notStored')}</p>}
    </>
  )
}

/** Shown beside the title, where it moves nothing. */
export function ReadingNote() {
  const { t } = useTranslation('composer')
  return (
    <span role="status" className="inline-flex items-center gap-1.5 text-ink-2">
      <LoaderCircle aria-hidden className="animate-[turn_.9s_linear_infinite]" />
      {t('runner.slow')}
    </span>
  )
}
