import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { client } from '../../api/client.ts'
import { ErrorState } from '../../components/ErrorState.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { isStatus } from '../../errors/describe-error.ts'
import { links } from '../../routing/links.ts'
import { deleteComposerDrafts } from '../../stores/composer-drafts.ts'
import { AuthCard } from './AuthCard.tsx'

/** Ends the session and reloads the login page, so that nothing of it stays in memory. */
export function LogoutPage() {
  const { t } = useTranslation('auth')
  const end = useMutation({
    mutationFn: () => {
      leaving ??= signOut().finally(() => {
        leaving = undefined
      })
      return leaving
    },
  })
  // Once, on arrival
  useEffect(() => end.mutate(), [])
  return (
    <AuthCard title={t('logout.title')} foot={end.isError && <TextLink {...links.home()}>{t('logout.back')}</TextLink>}>
      {end.isError && <ErrorState error={end.error} title={t('logout.failed')} retry={() => end.mutate()} />}
    </AuthCard>
  )
}

/** An address that ends a session works once: a page that is drawn twice must not follow two. */
let leaving: Promise<void> | undefined

async function signOut(): Promise<void> {
  try {
    const { url } = await client.call('auth.logout')
    deleteComposerDrafts()
    location.assign(url || '/auth/login')
  } catch (error) {
    // Without a session there is nothing to end.
    if (!isStatus(error, 401) && !isStatus(error, 403)) throw error
    location.assign('/auth/login')
  }
}
