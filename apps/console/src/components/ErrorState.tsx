import { CircleX, RotateCw } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { describeError } from '../errors/describe-error.ts'
import { Button } from './Button.tsx'

/** A view that could not be loaded: what happened, the request id, and "Try again". */
export function ErrorState({ error, retry, title }: { error: unknown; retry?: () => void; title?: string }) {
  const { t } = useTranslation()
  const { text, requestId } = describeError(error)
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3.5 rounded-box border border-line bg-surface px-3.5 py-4"
    >
      <span className="grid size-9 shrink-0 place-items-center rounded-md tinted-failed text-failed">
        <CircleX aria-hidden />
      </span>
      <div className="min-w-0 flex-1 basis-56">
        <h2 className="font-semibold">{title ?? t('error.title')}</h2>
        <p className="text-ink-2">{text}</p>
        {requestId && (
          <p className="text-small text-ink-3">
            {t('error.request')} <code>{requestId}</code>
          </p>
        )}
      </div>
      {retry && (
        <Button icon={RotateCw} onClick={retry}>
          {t('error.retry')}
        </Button>
      )}
    </div>
  )
}
