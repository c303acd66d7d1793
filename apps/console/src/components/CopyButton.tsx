import { Copy } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from './Button.tsx'
import { toastSuccess, toastText } from './toasts.tsx'

/** Copies a text; browsers allow that only on a secure page, otherwise a message explains it. */
export function CopyButton({ text, label, withWord }: { text: string; label?: string; withWord?: boolean }) {
  const { t } = useTranslation()
  const copy = async () => {
    if (!window.isSecureContext || !navigator.clipboard) return toastText(t('copy.insecure'))
    try {
      await navigator.clipboard.writeText(text)
      toastSuccess(t('copy.done'))
    } catch {
      toastText(t('copy.refused'))
    }
  }
  return withWord ? (
    <Button icon={Copy} onClick={copy}>
      {label ?? t('copy.action')}
    </Button>
  ) : (
    <IconButton icon={Copy} label={label ?? t('copy.action')} size="sm" onClick={copy} />
  )
}
