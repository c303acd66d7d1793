ALTER TABLE "crux"."registry" ADD COLUMN "api_url" text;--> statement-breakpoint
ALTER TABLE "crux"."registry" ADD COLUMN "namespace" text;