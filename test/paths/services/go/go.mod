module paths

go 1.22
