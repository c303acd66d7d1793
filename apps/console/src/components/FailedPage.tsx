import { CircleX, RotateCw } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { describeError } from '../errors/describe-error.ts'
import { Button, ButtonLink } from './Button.tsx'
import { PageHeader } from './PageHeader.tsx'

/** A page whose subject could not be loaded: it has no name to show, so it shows what happened and where to continue. */
export function FailedPage({ error, retry, busy }: { error: unknown; retry: () => void; busy: boolean }) {
  const { t } = useTranslation()
  const { text, requestId } = describeError(error)
  return (
    <div
      role="alert"
      className="mx-auto mt-[12vh] grid max-w-96 justify-items-center gap-3 text-center text-balance [&_h1]:w-full [&>div]:mb-0 [&>div]:justify-center"
    >
      <CircleX aria-hidden className="size-8! text-failed" />
      <PageHeader title={t('error.title')} subtitle={text} />
      {requestId && (
        <p className="text-small text-ink-3">
          {t('error.request')} <code>{requestId}</code>
        </p>
      )}
      <div className="flex flex-wrap justify-center gap-2">
        <Button icon={RotateCw} variant="main" busy={busy} onClick={retry}>
          {t('error.retry')}
        </Button>
        <ButtonLink to="/">{t('notFound.home')}</ButtonLink>
      </div>
    </div>
  )
}
