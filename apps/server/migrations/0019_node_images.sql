CREATE TABLE "crux"."node_image" (
	"node_id" uuid NOT NULL,
	"digest" text NOT NULL,
	"name" text NOT NULL,
	CONSTRAINT "node_image_node_id_digest_name_pk" PRIMARY KEY("node_id","digest","name")
);
--> statement-breakpoint
ALTER TABLE "crux"."node_image" ADD CONSTRAINT "node_image_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "release_successful" ON "crux"."release" USING btree ("node_id","prefix","project_id","finished_at" DESC NULLS LAST) WHERE status = 'successful';--> statement-breakpoint
INSERT INTO "crux"."node_image" ("node_id", "digest", "name")
SELECT r.node_id, ri.digest, ri.image_name FROM crux.release_instance ri JOIN crux.release r ON r.id = ri.release_id
WHERE ri.digest IS NOT NULL
UNION
SELECT r.node_id, found.value, found.key FROM crux.release_instance ri JOIN crux.release r ON r.id = ri.release_id
CROSS JOIN LATERAL jsonb_each_text(ri.preparation_digests) AS found;
