import { addresses } from '@crux/contract'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

// The console is plain static files; the server serves dist/ and everything below these paths itself.
const server = process.env.CRUX_URL ?? 'http://localhost:8000'
// The server accepts the origin of CRUX_URL; in development the browser's is this one's.
const headers = { origin: new URL(server).origin }

/** Where operations are reached, without the schemas that stand in the same table. */
const bareAddresses = Object.entries(addresses).map(([operation, { method, path }]) => [operation, { method, path }])
const addressTable: Plugin = {
  name: 'address-table',
  apply: 'build',
  load: (id) =>
    id.endsWith('/packages/contract/src/addresses.ts')
      ? `export const addresses = ${JSON.stringify(Object.fromEntries(bareAddresses))}`
      : undefined,
}

export default defineConfig({
  plugins: [addressTable, react(), tailwindcss()],
  build: {
    outDir: 'dist',
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // Texts of an area and code that the bundler names alike are told apart.
        chunkFileNames: ({ facadeModuleId }) =>
          `assets/${facadeModuleId?.includes('/locales/') ? 'texts-' : ''}[name]-[hash].js`,
      },
    },
  },
  server: {
    proxy: {
      '/api': { target: server, ws: true, headers },
      '/kratos': { target: server, headers },
      '/health': { target: server },
    },
  },
})
