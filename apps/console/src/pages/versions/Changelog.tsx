import { useTranslation } from 'react-i18next'
import { FoldedText } from '../../components/FoldedText.tsx'

/** What changed in a version: on its page whether or not the version can still be edited. */
export function Changelog({ text }: { text: string | null | undefined }) {
  const { t } = useTranslation('versions')
  if (!text) return null
  return (
    <section aria-label={t('changelog')} className="mb-4 max-w-[80ch]">
      <h2 className="text-small text-ink-2">{t('changelog')}</h2>
      <FoldedText text={text} lines={6} className="mt-0.5" />
    </section>
  )
}
