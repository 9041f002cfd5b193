// The tasks of a client in Go, unmodified: go run stock.go BASE_URL KEY_FILE
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand"
	"os"

	"golang.org/x/oauth2/google"
	"google.golang.org/api/calendar/v3"
	"google.golang.org/api/drive/v3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx, base := context.Background(), os.Args[1]
	key, err := os.ReadFile(os.Args[2])
	check(err)
	account, err := google.JWTConfigFromJSON(key, drive.DriveScope, calendar.CalendarScope)
	check(err)
	token := option.WithTokenSource(account.TokenSource(ctx))
	files, err := drive.NewService(ctx, token, option.WithEndpoint(base+"/drive/v3/"))
	check(err)
	about, err := files.About.Get().Fields("user").Do()
	check(err)
	events, err := calendar.NewService(ctx, token, option.WithEndpoint(base+"/calendar/v3/"))
	check(err)

	content := make([]byte, 700000)
	rand.New(rand.NewSource(1)).Read(content)
	file, err := files.Files.Create(&drive.File{Name: "Größe.bin"}).
		Media(bytes.NewReader(content), googleapi.ChunkSize(262144), googleapi.ContentType("image/png")).
		Fields("id,name,mimeType,size").Do()
	check(err)
	small, err := files.Files.Create(&drive.File{Name: "small"}).Media(bytes.NewReader(content[:9])).Fields("size").Do()
	check(err)
	part := files.Files.Get(file.Id)
	part.Header().Set("Range", "bytes=699990-")
	response, err := part.Download()
	check(err)
	tail, err := io.ReadAll(response.Body)
	check(err)

	names := []string{}
	for number := 0; number < 4; number++ {
		_, err = files.Files.Create(&drive.File{Name: "listed"}).Do()
		check(err)
	}
	list := files.Files.List().Q("name = 'listed'").PageSize(3).Fields("nextPageToken", "files(id,name)")
	check(list.Pages(ctx, func(page *drive.FileList) error {
		for _, each := range page.Files {
			names = append(names, each.Name)
			check(files.Files.Delete(each.Id).Do())
		}
		return nil
	}))

	made, err := events.Events.QuickAdd("primary", "Lunch 2026-11-05 12:00").Do()
	check(err)
	all, err := events.Events.List("primary").Do()
	check(err)
	check(events.Events.Delete("primary", made.Id).Do())
	changed, err := events.Events.List("primary").SyncToken(all.NextSyncToken).Do()
	check(err)

	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"sign-in": about.User.EmailAddress, "upload": small.Size == 9,
		"chunks": file.Name == "Größe.bin" && file.MimeType == "image/png" && file.Size == 700000,
		"range":  bytes.Equal(tail, content[699990:]), "pages": len(names) == 4,
		"events": made.Summary == "Lunch", "sync": changed.Items[0].Status == "cancelled",
	})
}
