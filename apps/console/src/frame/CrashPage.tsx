import { ApiError } from '@crux/client'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { RotateCw, ServerCrash } from 'lucide-react'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Button, ButtonLink } from '../components/Button.tsx'
import { describeError } from '../errors/describe-error.ts'
import { links } from '../routing/links.ts'

/** /500, and what the error boundary shows: an answer that did not come, or a page that failed. */
export function CrashPage({ error, reset }: Partial<ErrorComponentProps>) {
  const { t } = useTranslation()
  const router = useRouter()
  const ours = error !== undefined && !(error instanceof ApiError)
  const { text, requestId } = describeError(error)
  const title = ours ? t('error.crashTitle') : t('crash.title')
  useEffect(() => {
    document.title = `${title} - Crux`
  }, [title])
  useEffect(() => {
    if (error !== undefined) window.dispatchEvent(new CustomEvent('crux-crash', { detail: error }))
  }, [error])
  const again = () => {
    reset?.()
    void router.invalidate()
  }
  return (
    <div role="alert" className="mx-auto mt-[12vh] grid max-w-md justify-items-center gap-3 p-6 text-center">
      <ServerCrash aria-hidden className="size-8! text-ink-3" />
      <h1 className="text-title font-semibold">{title}</h1>
      <p className="text-ink-2">{ours ? t('error.crashText') : error ? text : t('crash.text')}</p>
      {ours && error instanceof Error && <code className="text-ink-3">{error.message}</code>}
      {requestId && (
        <p className="text-small text-ink-3">
          {t('error.request')} <code>{requestId}</code>
        </p>
      )}
      <div className="flex flex-wrap justify-center gap-2">
        <Button icon={RotateCw} variant="main" onClick={ours ? () => location.reload() : again}>
          {ours ? t('error.reload') : t('error.retry')}
        </Button>
        <ButtonLink {...links.status()}>{t('crash.status')}</ButtonLink>
      </div>
    </div>
  )
}
