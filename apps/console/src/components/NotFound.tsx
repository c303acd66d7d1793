import { SearchX } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { ButtonLink } from './Button.tsx'
import { PageHeader } from './PageHeader.tsx'

/** The page for an unknown address, with or without the frame. */
export function NotFound() {
  const { t } = useTranslation()
  return (
    <div className="mx-auto mt-[12vh] grid max-w-96 justify-items-center gap-3 text-center text-balance [&_h1]:w-full">
      <SearchX aria-hidden className="size-8! text-ink-3" />
      <div className="[&>div]:mb-0 [&_div]:justify-center">
        <PageHeader title={t('notFound.title')} subtitle={t('notFound.text')} />
      </div>
      <ButtonLink to="/">{t('notFound.home')}</ButtonLink>
    </div>
  )
}
